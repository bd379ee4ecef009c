# What --seen does not print is not remembered, and a process that writes to the state is no hindrance.
urls a b > first
urls b c c a d > in
vidi -s st first
cp -r st before
try vidi -D -s st in
try vidi --seen -s st in
diff -r before st && echo "the state is as it was"
hold st
try vidi -D -s st in
let_go
echo "-- all of it is still new"
try vidi -s st in
echo "-- a state that is not there is not made"
try vidi -D -s none in
[ -e none ] || echo "none"
echo "-- options that make no sense with it"
try vidi -D -s st --epoch new in
try vidi -D -s st --wait in
