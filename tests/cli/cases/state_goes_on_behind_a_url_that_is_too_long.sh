# A URL of more than a gigabyte is too long for the log of a state that keeps URLs: it is refused alone.
[ "${VIDI_TEST_LONG-}" ] || skip "takes long; make test-long"
[ "$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 12 ] || skip "there is too little memory"
{ echo a; head -c 1100000000 /dev/zero | tr '\0' x; echo; echo b; } > in
try vidi --canon none --kind hashset --state s in
echo "-- and the next run"
try vidi --canon none --state s in
try vidi list s
try vidi check s
