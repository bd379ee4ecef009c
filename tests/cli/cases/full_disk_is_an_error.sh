[ -w /dev/full ] || skip "there is no /dev/full"
make_urls 20000 > in
vidi --kind hashset in > /dev/full
echo "status $?"
echo a | vidi --kind hashset > /dev/full
echo "status $?"
vidi plan --urls 1e6 --lost 1 > /dev/full
echo "status $?"
vidi --help > /dev/full
echo "status $?"
echo a | vidi --kind hashset --json 2> /dev/full
echo "status $?"
