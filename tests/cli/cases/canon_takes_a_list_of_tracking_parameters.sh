printf '%s\n' 'http://h/?utm_x=1&mine=2&b' 'http://h/?Mine_too&a' > urls
printf '# ours\n  mine*\r\n' > own
printf '@builtin\nmine\n' > more
: > none
for list in own more none; do
    echo "--- $list"
    vidi canon --canon crawl --tracking $list urls
done
echo "--- the name has the digest"
vidi canon --canon crawl --tracking own --json --stats urls 2>&1 > /dev/null
echo "--- what is wrong is said"
try vidi canon --tracking own urls
try vidi canon --canon surt --tracking own urls
try vidi canon --canon crawl,-tracking --tracking own urls
try vidi canon --canon crawl --tracking absent urls
try vidi canon --canon crawl --tracking . urls
printf 'a=b\n' > bad
try vidi canon --canon crawl --tracking bad urls
printf 'a\0b\n' > binary
try vidi canon --canon crawl --tracking binary urls
head -c 5000000 /dev/zero | tr '\0' '#' > large
try vidi canon --canon crawl --tracking large urls
try vidi canon --canon crawl --tracking
