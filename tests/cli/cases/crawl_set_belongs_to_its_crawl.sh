# Nothing but the crawl changes its set: it would no longer fit the database, and pages would be lost or stored twice.
mkdir www
printf '<a href=a.html>a</a><a href=b.html>b</a>' > www/index.html
printf a > www/a.html
printf b > www/b.html
start_site www
(umask 0; crawl -q --state st --max-pages 1 "$site")
stat -c '%a %n' st
urls x y > more
vidi -s other more > /dev/null
vidi export other other.vidi
{
    try vidi rotate st/seen
    try vidi remove st/seen more
    try vidi -s st/seen more
    try vidi -s st/seen -o out more
    try vidi merge st/seen other
    try vidi import st/seen other.vidi
    try vidi snapshot st/seen
    echo "-- reading it is fine"
    try vidi -s st/seen --dry-run more
    try vidi has st/seen more
    vidi info st/seen | grep '^URLs '
    vidi check st/seen | sed 's/,.*//'
    vidi export st/seen seen.vidi
    vidi import copy seen.vidi > /dev/null && vidi rotate copy > /dev/null && echo "a copy can be changed"
} 2>&1
echo "-- the crawl goes on"
crawl -q --state st "$site"
vidi crawl report --json st | jq -c '[.urls, .fetched, .queue]'
vidi crawl check st | sed 's/, [0-9]* pages in the database//'
echo "-- nor in a second visit, which is the crawl's business alone"
crawl -q --revisit --state st "$site"
{
    try vidi rotate st/seen
    try vidi -s st/seen more
    try vidi import st/seen other.vidi
} 2>&1
vidi crawl report --json st | jq -c '[.visit, .urls, .queue]'
echo "-- another set in its place is refused"
mv st/seen st/mine
cp -r other st/seen
try crawl -q --state st "$site" | hide_site
crawl -q --rebuild-seen --state st "$site" && vidi crawl check st | sed 's/, [0-9]* pages in the database//'
ls st | grep -v crawl.db
stop_site
