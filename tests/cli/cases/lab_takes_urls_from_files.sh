# Real URLs in place of synthetic ones: each once, from one file or several, packed or not.
make_urls 9000 > urls
first_only urls > unique
split -n l/2 unique part-
echo "$(wc -l < unique) different URLs"
vidi lab run thesis-5.5 --urls 2000 --runs 3 --corpus urls > one
vidi lab run thesis-5.5 --urls 2000 --runs 3 --corpus part-aa --corpus part-ab > two
vidi lab run --corpus part-* --urls 2000 --runs 3 -- thesis-5.5 > glob
vidi lab run thesis-5.5 --urls 2000 --runs 3 --corpus - < urls > standard
gzip -c urls > urls.gz
vidi lab run thesis-5.5 --urls 2000 --runs 3 --corpus urls.gz > packed
cat one
for other in two glob standard packed; do
    sed '$d' one > head-one
    sed '$d' "$other" | cmp - head-one && tail -n 1 "$other"
done
vidi lab run thesis-5.5 --urls 2000 --runs 3 --corpus part-aa part-ab --json | sed -n 2p | grep -o '"corpus":.*'
vidi lab urls --urls 2500 --corpus urls > run
vidi lab urls --urls 2500 --corpus urls --run 2 > other
sort -u run | wc -l
sort run | comm -23 - <(sort unique) | wc -l
cmp -s run other || echo "another run has another order"
try vidi lab urls --urls 10 --corpus nothing
try vidi lab run thesis-5.5 --urls 3000 --corpus urls
try vidi lab run counting-errors --urls 2500 --corpus urls
try vidi lab urls --corpus /dev/null
try vidi lab run thesis-5.5 thesis-5.55 --corpus urls
try vidi lab run --corpus
# Names of files do nothing to a terminal.
cp urls $'red \e[31m'
vidi lab run thesis-5.5 --urls 2000 --runs 3 --corpus $'red \e[31m' | tail -n 1
