mkdir www
for i in 1 2 3 4; do printf '<a href=%s.html>next</a>' $((i + 1)) > www/$i.html; done
printf '<a href=1.html>begin</a>' > www/index.html
printf end > www/5.html
start_site www
crawl -q --state st --no-store --max-pages 2 "$site"
ls st | grep -v crawl.db
vidi crawl cdxj st
echo -- each run decides for itself
crawl -q --state st --max-pages 4 "$site"
crawl -q --state st --no-store "$site"
vidi crawl cdxj st | grep -oE '"url": "[^"]*"' | hide_site
vidi crawl report st --json | jq -c '[.fetched, .archived]'
stop_site
