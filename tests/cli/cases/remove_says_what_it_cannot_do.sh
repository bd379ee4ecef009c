urls a b > in
for kind in blocked classic scalable; do
    vidi -s $kind --kind $kind --capacity 100 in > /dev/null
    try vidi remove $kind in
done
echo "-- what is no state, and what cannot be written to"
vidi -s st in > /dev/null
vidi export st file
try vidi remove file in
try vidi remove nowhere in
try vidi remove st nofile
try vidi remove
try vidi remove --field 0 st in
try vidi has st in
