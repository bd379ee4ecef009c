# A file that is not what the state has written is never touched, and nothing is remembered.
urls a b > in
urls c > more
refused()
{
    [ -e out ] && cp -p out before
    try vidi -s st -o out more | sed "s|($PWD|(PWD|"
    [ ! -e out ] || cmp out before
    vidi has st more
}
vidi -s st -o out in
cp out good
echo "-- shorter"
truncate -s 5 out
refused
cat good > out # the same file again
echo "-- changed"
printf X | dd of=out conv=notrunc status=none
refused
cat good > out
echo "-- replaced by a copy"
cp out copy && mv copy out
refused
try vidi -s st -o out --output-new more
echo "-- gone"
rm out
refused
echo "-- begin anew"
try vidi -s st -o out --output-new more
cat out
echo "-- somebody else has added a line; two states with one file"
cp out good
echo http://by.hand/ >> out
refused
cat good > out
urls d | try vidi -s st4 -o out
cmp out good
echo "-- a state with the note of another program, or of another time"
urls a | make_state --note "somebody's own" st2
try vidi -s st2 -o out2 more
for note in 'vidi output 2 open 1 2 3 4 x' 'vidi output 1 open 1 2' 'vidi output 1 open 1 2 3 99999999999999999 x' 'vidi output 1 ' 'vidi output 1 1 2 3 4 x'; do
    make_state --open --note "$note" st2 < /dev/null
    try vidi -s st2 -o out2 more
done
ls out2 2> /dev/null
try vidi -s st2 more
