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
stop_site
