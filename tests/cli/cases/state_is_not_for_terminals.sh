command -v script > /dev/null || skip "there is no script"
urls a | make_state --kind hashset s
script -qec "vidi export s" typescript < /dev/null | tr -d '\r'
script -qec "vidi import new" typescript < /dev/null | tr -d '\r'
[ ! -e new ] || echo "new is there"
