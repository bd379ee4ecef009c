try vidi < /dev/null
: > empty
try vidi empty empty
try vidi --kind hashset --stats empty 2>&1 | hide_times
