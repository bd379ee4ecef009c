# Killed in the middle, and again: at the end the file holds each line once, in order.
make_urls 60000 > in
first_only in > exact
mkfifo pipe
for lines in 1 5000 20000 50000; do
    vidi -s st -o out --threads 16 < pipe 2>> err &
    pid=$!
    exec 3> pipe
    head -n $lines in >&3
    has_written() { [ -e out ] && [ "$(wc -l < out)" -ge "$(first_only <(head -n $lines in) | wc -l)" ]; }
    wait_until has_written
    { kill -KILL $pid; wait $pid; } 2> /dev/null
    exec 3>&-
done
vidi -s st -o out in 2>> err
cmp out exact
vidi has -v st exact
grep -v 'cut off' err || true
