# A run with -o is killed. Another one, without it, appends its lines to the file: they are committed, so the next run
# with -o must not cut them off.
urls a b > in
vidi -s st -o out in
as_if_killed st
urls c d | vidi -s st >> out
urls e > more
try vidi -s st -o out more
cat out
echo "-- if nothing was appended, the file is gone on with"
vidi -s st2 -o out2 in
as_if_killed st2
urls c | vidi -s st2 > elsewhere
try vidi -s st2 -o out2 more
cat out2
