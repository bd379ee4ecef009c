# A line for which there is no memory, in a block that was begun by the thread that reads: what was before it has been
# dealt with, and is counted once.
{
    awk 'BEGIN { for (i = 0; i < 60000; i++) print i % 10 ? "http://www.example.org/" i % 50 : "no url" }'
    head -c 300000 /dev/zero | tr '\0' x | sed 's,^,HTTP://www.example.org/,'
    printf '\nhttp://www.example.org/behind\n'
} > in
for threads in 1 3 16; do
    vidi --threads $threads --memory 400K --invalid drop --stats in 2> err > out
    echo "status $?"
    sed -E 's/in use: [^)]*/in use: */' err | grep -E '^(vidi|lines|new|seen|invalid)'
    wc -l < out
done
echo "-- no memory for what comes before it in the block either"
{
    awk 'BEGIN { for (i = 0; i < 7 * 32768; i++) print "http://a.org/" i % 9 }' # blocks as long as they may be
    seq -f 'http://b.org/%.0f' 1 30000
    head -c 300000 /dev/zero | tr '\0' x | sed 's,^,HTTP://www.example.org/,'
    printf '\nhttp://a.org/1\n'
} > in
for threads in 1 3 16; do
    vidi --threads $threads --memory 200K --seen in 2> err > out
    echo "status $?"
    sed -E 's/another .* would/another N would/; s/in use: [^)]*/in use: */' err
    grep -cE '[0-9]{3} KiB would' err # not that of the long line
    wc -l < out
done
