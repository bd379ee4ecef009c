# What was read before the error is answered; no later file is read.
[ -r /proc/self/mem ] || skip "there is no /proc/self/mem"
echo a > good
try vidi --kind hashset good /proc/self/mem good
