urls a b c | make_state --kind hashset s
vidi export s file
head -c 200 file > short
try vidi import new short
vidi import new < short
cp file wrong
damage wrong 300
try vidi import new wrong
(cat file; echo more) > long
try vidi import new long
: > empty
try vidi import new empty
head -c 5000 /dev/zero | tr '\0' x > text
try vidi import new text
try vidi import new missing
try vidi import new .
ls
echo "-- where there is a set, or can be none"
try vidi import s file
cp -r s damaged
damage damaged/set.0000000000000001 200
try vidi import damaged file
try vidi import missing/new file
try vidi import file file
make_state --list s
