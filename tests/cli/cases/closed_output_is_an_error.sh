echo a > in
vidi --kind hashset in >&-
echo "status $?"
# Nothing to print: nothing to complain about.
vidi --kind hashset < /dev/null >&-
echo "status $?"
vidi --kind hashset <&- 2>&1
echo "status $?"
