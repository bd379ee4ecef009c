# Sets that keep their URLs are merged whatever their keys, kinds, hash functions and epochs, from snapshots and logs.
urls a b | make_state --kind hashset one
urls b c | make_state --kind hashset --key 2 key
urls d x | make_state --kind sorted --key 3 kind
vidi snapshot kind > snapshot
urls x | sed 's/^/-/' | make_state --open kind
urls e | make_state --kind list --key 4 list
vidi export list list.file
urls f | make_state --kind hashset --params hash=xxh3 hash
make_state --kind hashset epoch < /dev/null
vidi rotate epoch > rotated
urls g a | make_state --open epoch
try vidi merge one key kind list.file hash epoch
make_state --list one | diff - <(urls a b c d e f g)
vidi check -q one
try vidi merge new list key
make_state --list new | diff - <(urls b c e)
echo "-- a merged set goes on under its own key"
urls a c e h | vidi -s new
echo "-- counts add up"
urls a b b | make_state --kind hashset --params multiset=on --key 1 twice
urls b c c | make_state --kind sorted --params multiset=on --key 2 more
vidi merge twice more
urls b b b c c | sed 's/^/-/' | make_state --open twice
vidi snapshot twice > snapshot
make_state --list twice
