vidi --help > full
vidi help | cmp - full
vidi help dedup | cmp - full
vidi dedup --help | cmp - full
vidi --kind hashset --help | cmp - full
vidi plan --help | cmp - <(vidi help plan)
# It fits on a terminal.
for command in dedup has crawl plan robots sitemap kinds init info top check rotate snapshot merge export import drop bench lab version help; do
    vidi $command -h | awk -v c=$command 'length > 80 { print c ": " $0 }'
    vidi $command --help | awk -v c=$command 'length > 80 { print c ": " $0 }'
done
vidi -h | wc -l | awk '$1 > 42 { print "the short help has " $1 " lines" }'
