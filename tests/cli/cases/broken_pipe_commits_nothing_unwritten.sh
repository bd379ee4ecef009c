# Of a reader that goes away, what it has not been sent is not marked as seen.
make_urls 200000 > in
first_only in > exact
for threads in 1 3 16; do
    vidi -s st$threads --threads $threads in | head -n 10 > out
    echo "status ${PIPESTATUS[0]}"
    vidi -s st$threads in > rest
    # The rest is the end of the exact answer: from where it stops on, nothing is missing.
    tail -n "$(wc -l < rest)" exact | cmp - rest
    [ "$(wc -l < rest)" -gt 50000 ] || echo "too much was committed"
done
