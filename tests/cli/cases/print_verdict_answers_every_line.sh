printf '%s\n' http://a.example/ 'no url' HTTP://A.example http://b.example/ 'no url' > in
try vidi --print verdict in
try vidi --print verdict --invalid drop in
try vidi --print verdict --invalid fail in
vidi --print verdict --stats --json in 2>&1 > out | jq -c '{read, new, seen, invalid}'
echo "-- ends of lines, and fields"
printf 'x,http://a.example/\0y,http://b.example/\0z,http://a.example/\0' > fields
vidi --print verdict -z --field 2 --delimiter , fields | tr '\0' '|'
echo
echo "-- with a state: nothing is new twice"
vidi -s st --print verdict in > first
vidi -s st --print verdict in | sort | uniq -c
try vidi -s st -n --print verdict in
try vidi has --print verdict st in
try vidi has --print verdict --invalid drop st <(echo http://c.example/; echo nothing)
echo "-- as many answers as lines, each the right one"
make_urls 200000 > many
for threads in 1 3 16; do
    vidi --print verdict --threads $threads many > answers
    paste answers many | grep '^new' | cut -f 2 | cmp - <(first_only many)
    wc -l < answers
done
echo "-- options that make no sense with it"
try vidi --print verdict --seen in
try vidi --print verdict --count in
try vidi has --print verdict -v st in
try vidi has --print verdict -q st in
