make_urls 30000 | make_state --kind hashset s
vidi snapshot s > snapshot
echo precious > file
limited()
{
    (trap '' XFSZ; ulimit -f 64; "$@")
}
try limited vidi export s file
try limited vidi export s other
cat file
ls
try vidi export s missing/file
try vidi export s .
try vidi export s s
if [ -w /dev/full ]; then
    vidi export s /dev/full 2>&1 | sed 's/^/file: /'
    vidi export s 2>&1 > /dev/full | sed 's/^/output: /'
fi
vidi export s | head -c 1 > one
echo "${PIPESTATUS[0]}"
echo "-- from a damaged set"
damage s/set.0000000000000002 5000
try vidi export s file
cat file
ls
