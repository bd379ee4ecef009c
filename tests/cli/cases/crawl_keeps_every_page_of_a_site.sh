mkdir -p www/sub
printf '<a href=a.html>one</a> <a href=sub/b.html#x>two</a> <a href="http://other.invalid/">out</a> <a href=mailto:a@b.c>m</a>' > www/index.html
printf '<a href=/>home</a> <a rel=nofollow href=/secret.html>no</a> <a href=/private/p.html>p</a>' > www/a.html
printf '<a href=../a.html>one</a> <a href=missing.html>gone</a>' > www/sub/b.html
printf 'User-agent: *\nDisallow: /private/\n' > www/robots.txt
start_site www
crawl --state st --jsonl lines.jsonl "$site" 2>&1 | hide_site
echo "[status ${PIPESTATUS[0]}]"
sort lines.jsonl | hide_site | sed -E 's/"digest":"sha1:[A-Z2-7]{32}"/"digest":"sha1:D"/'
echo -- again: nothing is left to do
crawl --state st --jsonl lines.jsonl "$site" 2>&1 | hide_site
wc -l < lines.jsonl
echo -- report
try vidi crawl report st | hide_site
vidi crawl report st --json | hide_site | sed -E 's/"expected_lost":[0-9.e-]+/"expected_lost":L/g'
vidi crawl cdxj st | cut -d ' ' -f 1 | sed -E 's/:[0-9]+\)/:PORT)/'
ls st st/archive | grep -v crawl.db-
echo -- another kind or form
try crawl --state st --kind classic "$site" | hide_site
try crawl --state st --canon crawl "$site" | hide_site
echo -- a crawl that was refused has not begun
try crawl -q --state later --kind classic "$site" | hide_site
try crawl -q --state later --kind classic --capacity 1000 --error 0.001 "$site" | hide_site
vidi info later/seen | grep -E '^(kind|capacity) '
mkdir empty other
: > empty/crawl.db # killed before the first transaction
try crawl -q --state empty --kind classic --capacity 10 "$site" | hide_site
vidi info empty/seen | grep '^capacity '
echo 'not a database' > other/crawl.db
try crawl -q --state other "$site" | hide_site
stop_site
