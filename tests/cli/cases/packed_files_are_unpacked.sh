formats='gzip zstd xz bzip2'
for format in $formats; do
    command -v $format > /dev/null || skip "there is no $format"
done
make_urls 30000 > in
split -n l/4 in part.
first_only in > exact
for part in part.*; do
    for format in $formats; do
        $format -c $part > $part.$format
    done
done
vidi part.aa.gzip part.ab.zstd part.ac.xz part.ad.bzip2 | cmp - exact
# Members and frames behind one another are one text, whatever the name says. Zeros between them mean nothing.
for format in $formats; do
    cat part.*.$format > whole.txt
    vidi whole.txt | cmp - exact
    cat whole.txt | vidi --threads 1 | cmp - exact
    { cat part.a[ab].$format; head -c 4 /dev/zero; cat part.a[cd].$format; head -c 100 /dev/zero; } | vidi | cmp - exact
    : | $format -c | vidi
    # One byte at a time.
    head -n 50 exact > few
    $format -c few | dd bs=1 status=none | vidi | cmp - few
done
# What only begins like packed data is text.
printf '\037\n\050\265\n\037\213\n\375\n\3757zX\nBZ\nBZh\nBZh9\nBZhx1AY&SY\nBZh91AY&S\n' > short
vidi --canon none short | cmp - short
for beginning in '\3757zX' BZh91AY 'BZhx1AY&SYaaaa' '\037'; do
    printf "$beginning" > short
    vidi --canon none short | od -An -c
done
# What ends too early, or is damaged, is an error that names the file; what came before it is printed.
for format in $formats; do
    echo "-- $format"
    file=part.aa.$format
    size=$(stat -c %s $file)
    head -c $((size * 3 / 4)) $file > cut
    vidi cut 2>&1 > out
    echo "status $?"
    first_only part.aa | cmp -n "$(stat -c %s out)" out -
    { head -c $((size / 2)) $file; echo 'no such thing, and it is long enough to be noticed'; tail -c 300 $file; } > spoilt
    vidi spoilt 2>&1 > out | sed 's/(.*)/(why)/'
    { cat $file; echo trailing; } > more
    vidi more 2>&1 > out | sed 's/(.*)/(why)/'
    first_only part.aa | cmp - out
done
