[ -w /dev/full ] || skip "there is no /dev/full"
make_urls 100000 > in
for threads in 1 3; do
    vidi -s st$threads --threads $threads in > /dev/full
    echo "status $?"
    vidi -s st$threads in | cmp - <(first_only in)
done
# A file that may not grow any more.
(ulimit -f 1000; trap '' XFSZ; vidi -s st in > out; echo "status $?")
lines=$(wc -l < out)
vidi has -v st <(head -n "$lines" out) > again
# What is seen was written: nobody has seen what is not in the output.
vidi has st <(first_only in | tail -n +$((lines + 2))) | wc -l
