urls a b c | make_state one
urls c d | make_state other
mkdir out
: > out/merge.new
try vidi merge out one other
try vidi check out
echo "-- a folder of somebody else's is not touched"
mkdir foreign
echo mine > foreign/notes
try vidi merge foreign one other
ls foreign
