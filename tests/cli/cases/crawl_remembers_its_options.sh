# Seeds and options are taken from the state by a command that names no seed.
python3 -c 'import sqlite3' 2> /dev/null || skip "there is no python3 with sqlite3"
ask() # STATE QUESTION
{
    python3 -c 'import sqlite3, sys
for row in sqlite3.connect(f"file:{sys.argv[1]}/crawl.db?mode=ro", uri=True).execute(sys.argv[2]): print(*row)' "$@" | hide_site
}
options()
{
    ask "$1" "SELECT value FROM meta WHERE name = 'options'"
}
pages()
{
    ask "$1" "SELECT replace(url, rtrim(url, replace(url, '/', '')), '') || ' ' || coalesce(status, '-') FROM pages ORDER BY id"
}
mkdir www
for page in one two three; do
    printf '<a href=/%s.html>%s</a>' index "$page" > "www/$page.html"
done
printf '<a href=one.html>1</a> <a href=two.html>2</a> <a href=three.html>3</a>' > www/index.html
start_site www
echo -- the same command, without its words
crawl -q --state st --exclude '*two*' --max-repeat 2 --user-agent 'a vidi' --max-pages 1 "$site" --jsonl lines.jsonl
echo "[status $?]"
options st
ask st 'SELECT text FROM seeds'
vidi crawl --state st 2>&1 | hide_site | head -n 1
pages st
wc -l < lines.jsonl
echo -- an option that is named replaces what was remembered, and is remembered
try vidi crawl -q --state st --exclude '*one*' --exclude '*three*' --max-repeat=3 2>&1 | hide_site
options st
vidi crawl -q --state st
options st
echo -- a seed: nothing is taken
crawl -q --state st --depth 0 "${site}three.html"
options st
ask st 'SELECT text FROM seeds'
echo -- flags, files
crawl -q --state flags --check --no-store -s flags "$site"
options flags
vidi crawl --state flags 2>&1 | hide_site | head -n 1
ls flags | grep -v crawl.db-
echo -- the next visit
vidi crawl -q --revisit --state flags
echo "[status $?]"
ask flags 'SELECT visit, count(*) FROM visits GROUP BY visit'
echo -- secrets
crawl -q --state header --header 'X-Key: hidden' --depth 0 "$site"
options header
try vidi crawl --state header
vidi crawl -q --state header --header 'X-Key: other'
echo "[status $?]"
crawl -q --contact me@example.org --state proxy --proxy "http://me:hidden@127.0.0.1:9/" --retries 0 "$site" 2> /dev/null
options proxy
try vidi crawl --state proxy
crawl -q --state login --depth 0 "${site/\/\//\/\/me:hidden@}"
options login
ask login 'SELECT text FROM seeds'
try vidi crawl --state login
grep -c hidden header/crawl.db login/crawl.db proxy/crawl.db
echo -- where there is nothing to take
try crawl --state none
try crawl -q
ls none 2>&1
try crawl -q --state st --exclude $'a\nb' "$site" 2>&1 | tail -n 2
stop_site
