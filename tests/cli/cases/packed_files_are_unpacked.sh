echo http://a.example/ | gzip > /dev/null || skip "there is no gzip"
command -v zstd > /dev/null || skip "there is no zstd"
make_urls 30000 > in
split -n l/3 in part.
first_only in > exact
gzip -k part.*; zstd -q part.aa part.ab part.ac
vidi part.aa.gz part.ab.zst part.ac | cmp - exact
# Members and frames behind one another are one text, whatever the name says.
cat part.*.gz > gz.txt; cat part.*.zst > zst.gz
vidi gz.txt | cmp - exact
vidi zst.gz | cmp - exact
cat zst.gz | vidi --threads 1 | cmp - exact
{ cat gz.txt; head -c 100 /dev/zero; } | vidi | cmp - exact
printf '\037\n\050\265\n\037\213\n' > short
vidi --canon none short | cmp - short
: | gzip | vidi
# What ends too early, or is damaged, is an error that names the file; what came before it is printed.
for file in part.aa.gz part.ab.zst; do
    head -c 20000 $file > cut
    vidi cut 2>&1 > out
    echo "status $?"
    [ -s out ] && first_only "${file%.*}" | cmp -n "$(stat -c %s out)" out -
    { head -c 20000 $file; echo 'no such thing, and it is long enough to be noticed'; } > spoilt
    vidi spoilt 2>&1 > out | sed 's/(.*)/(why)/'
done
{ cat gz.txt; echo trailing; } > more
vidi more 2>&1 > out
echo "status $?"
