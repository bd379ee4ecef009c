# vidi top and vidi crawl report --watch look at a crawl of another process.
command -v script > /dev/null || skip "there is no script(1)"
export TERM=xterm NO_COLOR=1
settle()
{
    hide_site | sed -E -e 's/^(fetched +[0-9]+ URLs?,) .*average.*/\1 RATES/' -e 's/^(time +).*/\1T/' \
        -e 's,^(bytes +[0-9]+ bytes)\, .*,\1\, RATE,' -e 's/^(queue .*), at this rate for .*/\1, FORECAST/' \
        -e 's/"(seconds|fetched_per_second)":[0-9.e+-]+/"\1":0/g' -e 's/"expected_lost":[0-9.e-]+/"expected_lost":L/' \
        -e 's/^(expected pages lost +).*/\1L/' -e 's/ +$//' -e 's/,? in [0-9.]+ s$/, in N s/'
}
mkdir www
printf '<a href=one.html>1</a> <a href=two.html>2</a> <a href=three.html>3</a>' > www/index.html
touch www/one.html www/two.html www/three.html
start_site www
begin()
{
    vidi crawl -q --allow-net loopback --ignore-robots --delay 1000 --state st --no-store "$site" &
    crawler=$!
    wait_until shows '"running":true'
}
shows()
{
    vidi top --once --json st 2> /dev/null | grep -q "$1"
}
drew() # how often, what
{
    [ "$(grep -c "$2" drawn)" -ge "$1" ]
}
begin
wait_until shows '"fetched":1,'
echo -- while it runs
vidi top --once st | settle
vidi top --once --json st | settle
vidi top st | settle | head -n 1
echo -- rates come from two readings
: > drawn
{ wait_until drew 1 'URL, 0/s, on average'; printf q; } | script -qefc 'vidi top st' drawn > /dev/null
echo -- the report, until the crawl ends
: > reports # the shell that makes it may come later than the first look at it
vidi crawl report --watch st > reports &
watcher=$!
script -qefc 'vidi crawl report --watch st' drawn < /dev/null > /dev/null &
drawer=$!
wait_until grep -q fetched reports
wait_until grep -q fetched drawn
kill -TERM $crawler
wait $crawler
wait $watcher
echo "[status $?]"
wait $drawer
echo "[status $?]"
settle < reports | tail -n 5
vidi crawl report st | settle
echo -- afterwards
vidi top st | settle
vidi crawl report st --watch --json | hide_site | grep -c queue
echo -- it was killed
begin
{ kill -KILL $crawler; wait $crawler; } 2> /dev/null
vidi top st | head -n 1
echo -- on a terminal
: > drawn
{ wait_until drew 2 'was killed'; printf q; } | script -qefc 'vidi top st' drawn > /dev/null
echo "[status $?]"
crawl -q --state st "$site"
vidi top st | settle
echo -- what cannot be watched
try vidi crawl report --watch nothing
try vidi crawl cdxj --watch st
try vidi crawl --watch --contact me@example.org http://a.example/
try vidi top --json st
stop_site
