{ urls b a; echo HTTP://A.example; echo 'not a URL'; urls c; } > in
for kind in hashset sorted list; do
    vidi -s $kind --kind $kind in > /dev/null
    try vidi list $kind
done
echo "-- without what was removed, from snapshot and log, each once"
vidi snapshot hashset > /dev/null
vidi remove -q hashset <(urls a)
urls d | vidi -s hashset > /dev/null
vidi list hashset | sort
vidi export hashset file
vidi list file | sort
vidi list - < file | sort
echo "-- for programs"
vidi -s counts --kind hashset --param multiset=on in in > /dev/null
vidi list --json counts | sort
vidi list -z counts | tr '\0' '|'
echo
echo "-- hashes: the same for one key, and as many as there are URLs"
make_state one < in
make_state other < in
vidi list --hashes one | sort > one.hashes
vidi list --hashes other | sort | cmp - one.hashes
wc -l < one.hashes
grep -cE '^[0-9a-f]{32}$' one.hashes
vidi list --hashes --json one | sort | head -n 1 | sed 's/[0-9a-f]\{32\}/HASH/'
vidi list --hashes hashset | wc -l
echo "-- keys instead of URLs"
vidi -s hosts --kind hashset --key host in > /dev/null
vidi list hosts | sort
echo "-- while another process writes"
hold sorted
vidi list sorted | sort
let_go
