for value in 0 -1 abc 1e 1e30 18446744073709551616 2.5 1e-3 nan inf 0x10 ' 5' 5x 1,000 1__0 _1 1_ 1_.5 1. . 1KB 1MiB 1KK 30000000T; do
    try vidi --capacity "$value"
done
for value in 0 1 2 1K -1 nan inf abc 1e-400 1e400; do
    try vidi --error "$value"
done
for value in 0 1Q 1KBB '1 K' 1iB 1.5 -1K 20000000T 1e30 ''; do
    try vidi plan --urls 1e6 --memory "$value"
done
for value in abc 1e400 -1; do
    try vidi plan --urls 1e6 --lost "$value"
done
try vidi plan --urls 1e6 --k 0
try vidi plan --urls 1e6 --k 5e9
try vidi plan --urls 0
