mkdir www
for i in 1 2 3 4; do printf '<title>%s</title><a href=%s.html>next</a>' "$i" $((i + 1)) > www/$i.html; done
printf '<a href=1.html>begin</a>' > www/index.html
printf end > www/5.html
start_site www
echo -- there is nothing to come back to
try crawl --revisit "$site" | hide_site
try crawl --budget 10 --state st "$site" | hide_site
try crawl --revisit --continuous --state st "$site" | hide_site
echo -- the first visit
crawl -q --revisit --state st "$site"
vidi crawl changes st | jq -c '[.visit, .url, .change]' | hide_site
echo -- the second
printf '<a href=2.html>next</a> <a href=new.html>new</a>' > www/1.html
printf new > www/new.html
rm www/5.html
crawl --revisit --state st "$site" 2>&1 | hide_site
vidi crawl changes st | jq -c '[.visit, .url, .change, .status, .previous_status]' | hide_site
vidi crawl changes st --from 1 --to 1 | wc -l
vidi crawl report st --json | jq -c '.visit, (.visits[] | [.visit, .urls, .new, .changed, .unchanged, .gone, .recovered])'
sqlite3 st/crawl.db "SELECT visit, change, url FROM visits WHERE url LIKE '%1.html'" | hide_site
echo -- a visit that is not over
crawl -q --revisit --max-pages 2 --state st "$site"
crawl --revisit --state st "$site" 2>&1 | hide_site | grep -v expected
echo -- what makes no sense
try vidi crawl changes st --from 4
try vidi crawl changes st --from 3 --to 2
try vidi crawl changes st --to x
try vidi crawl report st --from 1
try crawl --from 1 --state st "$site" | hide_site
try vidi rotate st/seen
vidi crawl check st | grep -o "all is well"
stop_site
echo -- a page that only its script makes another one
mkdir clock
page() { printf '<script>now = %s</script><p>%s</p>' "$1" "$2" > clock/index.html; }
page 1 'as it  was'
start_site clock
crawl -q --ignore-changes text --state text "$site"
page 2 'as it was'
crawl -q --revisit --ignore-changes text --state text "$site"
vidi crawl report text --json | jq -c '.visits[1] | [.unchanged, .changed], .recovered'
try crawl --ignore-changes colour --state text "$site" | hide_site
echo -- visited again and again
page 3 'as it was'
crawl -q --continuous --budget 100000 --max-time 1 --state text "$site" || echo "exit $?"
vidi crawl report text --json | jq -c '.schedule | .pages, (.visits > 0), (.fresh > 0), (.hosts[] | .pages)'
vidi crawl report text | grep -c -e scheduled -e 'changes a day'
stop_site
