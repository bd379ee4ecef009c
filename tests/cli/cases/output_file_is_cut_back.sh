# What a kill leaves behind the committed lines is cut off, kept and reported; its URLs are new again.
urls a b > in
vidi -s st -o out in
as_if_killed st
printf 'http://c.example/\nhttp://d.exa' >> out
urls a b c d > more
try vidi -s st -o out more
cat out
echo "-- what was cut off"
cat st/cut.1; echo
echo "-- once more, and with nothing to add"
as_if_killed st
printf 'torn' >> out
try vidi -s st -o out more
cat out
cat st/cut.2; echo
try vidi -s st -o out more
ls st | grep -c cut
vidi check st > /dev/null && echo "the state is well"
echo "-- a file of which nothing is committed"
urls a | vidi -s st2 -o out2 <(printf '')
as_if_killed st2
printf 'http://torn' >> out2
try vidi -s st2 -o out2 in
cat out2
rm out2
vidi -s st3 -o out2 <(printf '')
rm out2
try vidi -s st3 -o out2 in
cat out2
echo "-- the same lines again and again are kept once"
vidi -s st4 -o out4 in
for tail in 'http://c.ex' 'http://c.example/' 'http://c.example/\nhttp://d.e' 'http://c' 'x'; do
    as_if_killed st4
    # shellcheck disable=SC2059
    printf "$tail" >> out4
    try vidi -s st4 -o out4 in
done
head -n 3 st4/cut.*
