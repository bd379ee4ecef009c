[ "${VIDI_TEST_LONG-}" ] || skip "takes long; make test-long"
[ "$(awk '/MemAvailable/ { print int($2 / 1048576) }' /proc/meminfo)" -ge 12 ] || skip "there is too little memory"
{ echo a; head -c 1073741824 /dev/zero | tr '\0' x; echo; echo a; } > in
vidi --canon none in | cmp - <(head -n 2 in)
