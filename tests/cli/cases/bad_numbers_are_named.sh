for value in 0 -1 abc 1e 1e30 18446744073709551616 2.5 1e-3 nan inf 0x10 ' 5' 5k 1,000; do
    try vidi --capacity "$value"
done
for value in 0 1 2 -1 nan inf abc 1e-400 1e400; do
    try vidi --error "$value"
done
for value in 0 1Q 1KB 1.5 -1K 20000000T 1e30 ''; do
    try vidi plan --urls 1e6 --memory "$value"
done
for value in 0 abc 1e400; do
    try vidi plan --urls 1e6 --lost "$value"
done
try vidi plan --urls 1e6 --k 0
try vidi plan --urls 1e6 --k 5e9
try vidi plan --urls 0
