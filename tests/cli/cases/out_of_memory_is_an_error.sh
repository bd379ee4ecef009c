make_urls 300000 > in
first_only in > exact
(ulimit -v 60000; vidi --kind hashset in > out 2> err; echo "status $?")
[ -s err ] && grep -c '^vidi: ' err
cmp -n "$(stat -c %s out)" exact out
(ulimit -v 90000; vidi -s st --kind hashset in > out 2> err; echo "status $?")
vidi -s st in | cat out - | cmp - exact
head -c 100000000 /dev/zero > long
(ulimit -v 100000; vidi long > out 2> err; echo "status $?")
sed 's/than [0-9]*/than N/' err
