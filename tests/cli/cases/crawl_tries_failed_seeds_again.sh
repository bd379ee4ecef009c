mkdir www
printf '<a href=a.html>a</a>' > www/index.html
printf end > www/a.html
start_site www
echo "-- its address is not permitted"
vidi crawl -q --state st --allow-net 10.0.0.0/8 --retries 0 "$site" 2> /dev/null
echo "status $?"
vidi crawl report st --json | jq -c '[.fetched, .skipped_urls, .queue]'
echo "-- the next run may visit it"
crawl -q --state st "$site"
echo "status $?"
vidi crawl report st --json | jq -c '[.fetched, .skipped_urls, .queue]'
echo "-- a seed that was fetched stays fetched"
crawl -q --state st "$site"
vidi crawl report st --json | jq -c '[.fetched, .skipped_urls, .queue]'
stop_site
