# A link graph from files beside the synthetic ones: plain, packed, in two files or from standard input.
for i in $(seq 1 400); do
    for j in 2 3 5; do
        printf 'http://www.site%d.org/page/%d\t%d#part\n' $((i % 9)) "$i" $((i * j % 1600))
    done
done > links
head -n 600 links > links-a
tail -n +601 links > links-b
xz -k links
vidi lab run graph-properties --urls 2500 --runs 2 --graph links > one
grep '^from files' one
tail -n 1 one
vidi lab run graph-properties --urls 2500 --runs 2 --graph links-a --graph links-b > two
vidi lab run graph-properties --urls 2500 --runs 2 --graph - < links > standard
vidi lab run graph-properties --urls 2500 --runs 2 --graph links.xz > packed
for other in two standard packed; do
    sed '$d' one > head-one
    sed '$d' "$other" | cmp - head-one && tail -n 1 "$other"
done
vidi lab run graph-expected --urls 2500 --runs 2 --graph links --json | sed -n 2p | grep -o '"graph":.*'
vidi lab run graph-order --urls 2500 --runs 2 --graph links --csv | grep -c 'from files.*,[0-9].*,2,measured'
vidi lab run graph-properties --urls 2500 --runs 2 | grep -c '^from files' || echo "not without --graph"
# What is printed and published are aggregates: no host of the files.
mkdir folder && cp links folder
vidi lab report 'graph-*' --urls 2500 --runs 1 --graph folder/links -o report.html --tables tables.csv --plots plots
for form in --csv --json --raw; do
    vidi lab run 'graph-*' --urls 2500 --runs 1 --graph links $form
done > printed
grep -q 'site[0-9]' report.html tables.csv plots/* printed || echo "no host"
grep -o 'vidi lab report[^<]*links' report.html
try vidi lab run graph-properties --graph nothing
try vidi lab run graph-properties --graph /dev/null
try vidi lab cell --graph links
