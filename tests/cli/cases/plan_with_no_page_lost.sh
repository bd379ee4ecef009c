# --lost 0 leaves the exact kinds only; so it does for vidi itself.
try vidi plan --urls 1e6 --lost 0
try vidi plan --kind classic --urls 1e6 --lost 0
try vidi plan --memory 1M --lost 0 --kind hashset
make_urls 1000 > in
vidi --capacity 1e3 --lost 0 --stats in 2>&1 > out | grep -e '^kind' -e '^expected'
