vidi bench --urls 2000 > table
head -n 1 table | sed -E 's/vidi [0-9.]+, instructions [a-z0-9]+,/vidi V, instructions I,/'
awk 'NR > 3 { print $1, $2 }' table
awk 'NR > 3 && $5 + 0 <= 0 { print "no memory? " $0 }' table
diff <(awk 'NR > 3 { print $1 }' table) <(vidi kinds | awk 'NR > 1 { print $1 }')
echo "-- one kind, as JSON"
vidi bench --urls 2000 --kind hashset --json |
    sed -E 's/"(version|cpu)":"[^"]*"/"\1":""/g; s/"(adds_per_second|questions_per_second|memory_bytes|bytes_per_url)":[0-9.e+-]+/"\1":0/g'
echo "-- the lines of a file"
urls a b c a > lines
vidi bench --kind hashset --json lines | grep -oE '"urls":[0-9]+|"count":[0-9]+'
vidi bench --kind hashset --urls 2 --json - < lines | grep -oE '"urls":[0-9]+|"count":[0-9]+'
echo "-- fewer instructions"
VIDI_CPU=portable vidi bench --urls 10 --kind blocked | grep -o 'instructions portable'
echo "-- what cannot be done"
: > empty
try vidi bench empty
try vidi bench nosuch
try vidi bench lines lines
try vidi bench --kind nosuch
try vidi bench --urls 1e12
