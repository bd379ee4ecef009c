# What the program needs to start, in kilobytes of addresses: mostly the libraries that it is linked with.
base=20000
until (ulimit -v $base; vidi version) > /dev/null 2>&1; do base=$((base + 5000)); done
make_urls 300000 > in
first_only in > exact
(ulimit -v $((base + 15000)); vidi --kind hashset in > out 2> err; echo "status $?")
[ -s err ] && grep -c '^vidi: ' err
cmp -n "$(stat -c %s out)" exact out
(ulimit -v $((base + 45000)); vidi -s st --kind hashset in > out 2> err; echo "status $?")
vidi -s st in | cat out - | cmp - exact
head -c 100000000 /dev/zero > long
(ulimit -v $((base + 55000)); vidi long > out 2> err; echo "status $?")
sed 's/than [0-9]*/than N/' err
