mkdir www
printf '<a href=a.html>a</a>' > www/index.html
printf a > www/a.html
printf 'User-agent: MJ12bot\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n' > www/robots.txt
start_site www
agents()
{
    zcat "$1"/archive/*.warc.gz | tr -d '\r' | grep -a '^User-Agent' | sort -u | sed "s,/[0-9][0-9.]*,/VERSION,"
}
echo -- a name with digits has its own rules
crawl -q --state one --agent MJ12bot --contact me@example.org "$site"
echo "[status $?]"
agents one
vidi crawl report one --json | jq -c '[.fetched, .skipped.robots]'
echo -- the whole header
crawl -q --state two --agent MJ12bot --contact me@example.org --user-agent 'Mozilla/5.0 (compatible; mj12bot; me@example.org)' "$site"
agents two
try crawl --contact me@example.org --user-agent 'vidi' "$site" | hide_site
try crawl --user-agent 'Mozilla/5.0' "$site" | hide_site
try crawl --user-agent $'vidi\r\nX: 1' "$site" 2>&1 | grep -v '^\$' | hide_site
try crawl --agent 'my bot/1.0' "$site" | hide_site
echo -- robots.txt of one\'s own servers
crawl -q --no-sitemaps "$site" 2>&1 | hide_site
crawl -q --ignore-robots --state three "$site"
echo "[status $?]"
vidi crawl report three --json | jq -c '[.fetched, .skipped.robots]'
echo -- a crawl that has read robots.txt before
rm www/robots.txt
printf 'User-agent: *\nDisallow: /a\n' > www/robots.txt
crawl -q --state four --max-pages 1 "$site"
crawl -q --state four --ignore-robots "$site"
vidi crawl report four --json | jq -c '[.fetched, .skipped.robots]'
try vidi crawl --contact me@example.org --ignore-robots http://a.example/
stop_site
