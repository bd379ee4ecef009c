mkdir www
for i in 1 2 3 4 5 6; do
    printf '<a href=%s.html>next</a> <a href=/>home</a>' $((i + 1)) > www/$i.html
done
printf '<a href=1.html>begin</a>' > www/index.html
printf end > www/7.html
start_site www
crawl --state st --max-pages 3 "$site" 2>&1 | hide_site
echo "[status ${PIPESTATUS[0]}]"
try crawl -q --state st "$site" | hide_site
vidi crawl report st --json | jq -c '[.fetched, .queue, .urls]'
crawl -q --depth 2 --jsonl - "$site" | jq -c '[.depth, .url]' | hide_site
crawl -q --depth 0 --jsonl - "$site" | jq -r .url | hide_site
crawl --max-pages 2 "$site" 2>&1 | hide_site | grep left
crawl --state hosts --max-host-pages 4 "$site" 2>&1 | hide_site | grep left
echo -- an error is a response
crawl "${site}nothing/" 2>&1 | hide_site | grep -v expected
echo -- nothing could be fetched
try crawl -q --retries 0 "${site/.1.1/.2.2}" | hide_site | sed 's/2\.2:[0-9]*/2.2:PORT/g'
printf 'User-agent: *\nDisallow: /' > www/robots.txt
try crawl -q "$site" | hide_site
try vidi crawl -q --allow-net 10.0.0.1 "$site" | hide_site
echo -- a parked host keeps its URLs
printf 'User-agent: *\nCrawl-delay: 100' > www/robots.txt
try crawl "$site" | hide_site
stop_site
