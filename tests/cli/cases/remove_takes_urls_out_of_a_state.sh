urls a b c d > in
vidi -s st in > /dev/null
{ urls x b; echo HTTP://A.example; urls b; } > gone
try vidi remove st gone
try vidi has st in
try vidi -s st in
echo "-- once more, and with nothing to do"
try vidi remove st gone
try vidi remove st gone
try vidi remove st < /dev/null
echo "-- statistics"
vidi -s st in > /dev/null
vidi remove --stats st gone 2>&1 | hide_times
vidi -s st in > /dev/null
vidi remove -q --json st gone 2>&1 | hide_times
echo "-- every kind that can"
for kind in fingerprint counting hashset sorted list; do
    vidi -s $kind --kind $kind --capacity 100 in > /dev/null
    vidi snapshot $kind > /dev/null
    vidi remove $kind gone
    vidi has -v $kind in
    vidi check -q $kind
done
echo "-- a state that counts loses one of the times"
vidi -s counts --kind hashset --param multiset=on in in > /dev/null
try vidi remove counts <(urls a b; urls b)
vidi has counts in
