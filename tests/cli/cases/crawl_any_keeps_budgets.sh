# Every name is at the same address; the site has 7 pages on each host.
mkdir www
for i in 1 2 3 4 5 6; do
    printf '<a href=%s.html>next</a>' $((i % 6 + 1)) > www/$i.html
done
start_site www
port=${site##*:}
port=${port%/}
printf '<a href=1.html>1</a> <a href=http://b.two.test:%s/>two</a> <a href=http://three.test:%s/>three</a>' \
    "$port" "$port" > www/index.html
broad()
{
    crawl --kind hashset --scope any --resolve '*=127.0.1.1' --state st "$@" 2>&1 | sed "s/$port/PORT/g" | hide_site
}
broad --site-budget 2 "http://a.one.test:$port/"
sqlite3 st/crawl.db 'SELECT name, given, waiting, links, budget FROM sites ORDER BY number'
echo -- three sites link to one another
broad --site-budget 2..5 "http://a.one.test:$port/" | grep -E 'fetched|sites|left'
sqlite3 st/crawl.db 'SELECT name, given, waiting, links, budget FROM sites ORDER BY number'
vidi crawl report --json st | jq -c '[.fetched, .queue, .sites, .sites_left_out, .waiting]'
echo -- the rest
broad -q --site-budget 100 "http://a.one.test:$port/"
vidi crawl report --json st | jq -c '[.fetched, .queue, .sites, .waiting]'
echo -- without budgets
broad --scope host "http://a.one.test:$port/" | grep -v '^ '
stop_site
echo -- options that make no sense
try crawl --site-budget 3 http://a.test/
try crawl --max-sites 3 http://a.test/
try crawl --scope any --site-budget 5..3 http://a.test/
try crawl --scope any --site-budget 0 http://a.test/
try crawl --scope any --site-budget 3.. http://a.test/
try crawl --order random http://a.test/
