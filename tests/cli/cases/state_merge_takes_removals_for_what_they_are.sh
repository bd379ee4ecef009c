# What the log of a set removes is not merged, and takes nothing away from the other.
urls a b c | make_state --kind hashset in
vidi snapshot in > snapshot
urls a b | sed 's/^/-/' | make_state --open in
urls a | make_state --kind hashset out
try vidi merge out in
make_state --list out | diff - <(urls a c)
