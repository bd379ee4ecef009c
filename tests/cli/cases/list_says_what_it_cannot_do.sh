urls a b > in
vidi -s fingerprint in > /dev/null
try vidi list fingerprint
for kind in blocked classic counting; do
    vidi -s $kind --kind $kind --capacity 100 in > /dev/null
    try vidi list $kind
    try vidi list --hashes $kind
done
try vidi list nowhere
try vidi list in
try vidi list
try vidi list fingerprint blocked
vidi -s urls --kind hashset in > /dev/null
vidi list urls > /dev/full
echo "status $?"
make_urls 100000 | vidi -s many --kind hashset > /dev/null
vidi list many | head -n 1 | wc -l
echo "status ${PIPESTATUS[0]}"
