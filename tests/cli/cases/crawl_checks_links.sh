mkdir www
printf '<a href=a.html>one</a> <a href=/gone>old <b>news</b></a>' > www/index.html
printf '<meta charset=utf-8><a href=/gone>more\xe2\x80\xae\xc2\x9b</a> <a href=/>home</a>' > www/a.html
start_site www
crawl --check "$site" 2> err | hide_site
echo "[status ${PIPESTATUS[0]}]"
hide_site < err
crawl --check --json -q "$site" | hide_site | sed 's/.*"broken_links"/"broken_links"/'
echo "[status ${PIPESTATUS[0]}]"
echo -- lines have standard output, broken links standard error
crawl --check --jsonl - -q "$site" 2> err | jq -r '[.url, .status] | @tsv' | sort | hide_site
echo "[status ${PIPESTATUS[0]}]"
hide_site < err
rm www/a.html
printf '<a href=/>home</a>' > www/index.html
try crawl --check -q "$site" | hide_site
echo -- an address that is not allowed says nothing about the link
printf '<a href="http://127.0.9.9:9999/">elsewhere</a>' > www/index.html
vidi crawl --allow-net 127.0.1.1 --delay 0 --check "$site" 2>&1 | hide_site
echo "[status ${PIPESTATUS[0]}]"
stop_site
