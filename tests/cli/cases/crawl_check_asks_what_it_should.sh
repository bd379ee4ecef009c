mkdir -p www/in www/out
printf '<a href=a.html>a</a> <a href=/out/gone>gone</a> <a href=/out/fine.html>fine</a>' > www/in/index.html
echo x | tee www/in/a.html > www/out/fine.html
start_site www
# What was asked, and how.
asked()
{
    crawl -q --scope prefix --jsonl - "$@" "${site}in/" 2> err | jq -r '[.status, .kind, .url] | @tsv' | sort | hide_site
    echo "[status ${PIPESTATUS[0]}]"
    hide_site < err
}
echo -- links out of scope are checked
asked --check
echo -- unless they are excluded, or none is wanted
asked --check --exclude '*/gone'
asked --check --internal
asked
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
