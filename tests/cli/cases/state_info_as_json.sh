urls a b c a | make_state --kind hashset s
echo -http://b.example/ | make_state --open s
try vidi info --json s | hide_times
vidi export s file
try vidi info file --json | hide_times
if command -v python3 > /dev/null; then
    vidi info --json s | python3 -c 'import json, sys; json.load(sys.stdin)'
fi
vidi rotate s > rotated
vidi info --json s | grep -o '"epochs":.*'
