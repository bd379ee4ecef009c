mkdir www tmp
printf '<a href=a.html>a</a>' > www/index.html
printf a > www/a.html
export TMPDIR=$PWD/tmp
start_site www
try crawl -q --jsonl - "$site" | jq -r '.url? // .' 2> /dev/null | hide_site
printf 'old\n' > out.jsonl
crawl -q --jsonl out.jsonl "$site"
jq -r .url out.jsonl | hide_site
printf 'old\n' > out.jsonl
try crawl -q --jsonl out.jsonl --state st "$site" | hide_site
try crawl -q --kind nonsense "$site" | hide_site
crawl --jsonl - "$site" 2> err | head -n 0
cat err
ls -A tmp
TMPDIR=$PWD/nowhere crawl -q "$site" 2>&1 | sed 's/XXXXXX\|[A-Za-z0-9]\{6\}:/X:/'
stop_site
