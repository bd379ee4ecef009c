mkdir -p www/in www/out
printf '<a href=a.html>a</a> <a href=/out/gone>gone</a> <a href=/out/fine.html>fine</a>' > www/in/index.html
echo x | tee www/in/a.html > www/out/fine.html
start_site www
# What was asked, and how.
asked()
{
    crawl -q --scope prefix --jsonl - "$@" 2> err | jq -r '[.status, .kind, .url] | @tsv' | sort | hide_site
    echo "[status ${PIPESTATUS[0]}]"
    hide_site < err
}
echo -- links out of scope are checked
asked --check "${site}in/"
echo -- unless they are excluded, or none is wanted
asked --check --exclude '*/gone' "${site}in/"
asked --check --internal "${site}in/"
asked "${site}in/"
try vidi crawl --internal "$site" | hide_site
echo -- statuses that the user accepts are fine, also to a later report
crawl -q --check --accept 404,999 --scope prefix --state accepting "${site}in/"
echo "[status $?]"
vidi crawl report --json accepting | jq -c '[.broken, .unknown, .broken_links]'
crawl -q --check --scope prefix --state accepting "${site}in/" | hide_site
for list in '' 404, 40 300-200 many; do
    try vidi crawl --check --accept "$list" "$site" | hide_site
done
stop_site
rm -r www
echo -- links that must not be followed are asked for, unless another link says otherwise
mkdir www
printf '<a href=a.html rel=nofollow>a</a> <a href=b.html>b</a> <a href=/c.html rel=ugc>c</a>' > www/index.html
printf '<a href=a.html>a again</a> <a href=gone rel=sponsored>gone</a>' > www/b.html
printf '<a href=d.html>d</a>' > www/a.html
printf '<meta name=robots content=nofollow><a href=gone>gone again</a> <a href=never.html>e</a>' > www/d.html
printf '<a href=not-read>x</a>' | tee www/c.html > www/never.html
start_site www
asked --check "$site"
asked "$site"
echo -- also after an interruption
crawl -q --check --state interrupted --max-pages 4 "$site"
echo "[status $?]"
crawl -q --check --state interrupted "$site" > again
echo "[status $?]"
sqlite3 interrupted/crawl.db 'SELECT status, kind, count(*) FROM pages GROUP BY status, kind' 'SELECT * FROM nofollow'
stop_site
rm -r www
