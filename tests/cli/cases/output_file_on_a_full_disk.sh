# A file that may not grow any more ends the run with an error, not with a signal. Every whole line that was written stays
# in it and is seen, and no other.
make_urls 100000 > in
first_only in > exact
for threads in 1 3; do
    for turn in 1 2 3; do
        (ulimit -f $((turn * 900)); vidi -s st$threads -o out$threads --threads $threads in; echo "status $?")
        head -c $((turn * 900 * 1024)) exact | head -n -1 | cmp - out$threads
        vidi has st$threads exact | cmp - out$threads
    done
    vidi -s st$threads -o out$threads in
    cmp out$threads exact
done
echo "-- without a state"
(ulimit -f 900; vidi -o plain in; echo "status $?")
(ulimit -f 900; vidi in > plain; echo "status $?")
