# With a state, -o appends from run to run; without one, it begins anew.
urls a b a > first
urls b c a d > second
try vidi -s st -o out first
try vidi -s st -o out second
try vidi -s st --output=out second
cat out
echo "-- another name of the same file, and a run that writes elsewhere in between"
mv out moved
urls e | vidi -s st
urls f | vidi -s st -o moved
cat moved
echo "-- a new file"
urls g | try vidi -s st -o out | sed "s|($PWD|(PWD|"
urls g | try vidi -s st -o out --output-new
urls h | try vidi -s st -o out
cat out
echo "-- without a state it is emptied first, also for counts"
try vidi -o plain first
try vidi -o plain second
cat plain
try vidi --count -o plain first
cat plain
echo "-- a header comes once, also if it was all that there was"
printf 'id,url\n' > none.csv
printf 'id,url\n1,http://a.example/\n' > a.csv
printf 'id,url\n2,http://b.example/\n3,http://a.example/\n' > b.csv
for file in none a none b; do
    try vidi -s sth --header -d , -f url -o table.csv $file.csv
done
cat table.csv
echo "-- NUL ends lines, verdicts, canonical forms"
printf 'http://a.example\0HTTP://b.example\0' > nul
vidi -z -s stz -o out.nul --print canonical nul
vidi -z -s stz -o out.nul --print verdict nul
tr '\0' '|' < out.nul; echo
