# Long enough for several blocks and threads: what is no URL is found where it is, and all threads together say what
# one alone says.
make_urls 60000 | awk 'NR % 9000 == 8999 { print "no url " NR; next } { print }' > long
wc -l < long
for policy in keep drop; do
    vidi --invalid $policy --threads 1 --stats long 2>&1 > one | hide_times > one.stats
    vidi --invalid $policy --stats long 2>&1 > all | hide_times > all.stats
    cmp one all && cmp one.stats all.stats && grep -c '^no url' all
    grep -E '^(lines|new|seen|invalid)' all.stats
done
try vidi --invalid fail long > failed
tail -n 2 failed
vidi --invalid fail long 2> /dev/null | wc -l
head -n 8998 long | first_only | wc -l
echo "-- in a block that threads work on together"
make_urls 60000 | sed '55555s/.*/no url/' > late
try vidi --invalid fail late > failed
tail -n 2 failed
vidi --invalid fail late 2> /dev/null | wc -l
head -n 55554 late | first_only | wc -l
echo "-- fields and JSON"
awk '{ print NR "\t" $0 }' long > fields
vidi --field 2 --invalid drop fields | cut -f 2 | cmp - all && echo same
sed 's/.*/{"n": 1, "url": "&"}/' long > json
vidi --json-key url --invalid drop json | sed 's/.*"url": "\(.*\)"}/\1/' | cmp - all && echo same
echo "-- kinds that need more than a hash"
for kind in hashset multilayer; do
    vidi --kind $kind --capacity 1e5 --invalid drop long | cmp - all && echo same
done
