kind() { vidi "$@" --json < /dev/null 2>&1 | jq -r '[.kind, .capacity] | @text' 2> /dev/null || vidi "$@" < /dev/null; }
kind --capacity 1e6 --lost 1
kind --capacity 1e6 --memory 16M
kind --capacity 1e6 --memory 2M
kind --capacity 1e6 --memory 4M
kind --memory 64M --lost 1
kind --memory 64M --error 0.01
kind --capacity 1e6 --error 0.01
kind --capacity 1e6 --error 1e-9
kind --capacity 1e6 --error 0.5
kind --capacity 1e7 --error 1e-12
kind --capacity 1e6 --error 0.01 --param bits=40
kind --kind classic --capacity 1e6 --error 0.01
kind --memory 64M
kind --kind classic --capacity 1e6 --lost 10
try vidi --capacity 1e6 --memory 1K < /dev/null
kind --capacity 1e6 --lost 0
make_urls 200000 > in
vidi --memory 300K in > out 2> err
echo "status $?"
wc -l < err
# What it has answered is right.
grep -vxFf <(first_only in) out
sort out | uniq -d
