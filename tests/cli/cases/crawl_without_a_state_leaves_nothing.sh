mkdir www tmp
printf '<a href=a.html>a</a>' > www/index.html
printf a > www/a.html
export TMPDIR=$PWD/tmp
start_site www
crawl -q --jsonl - "$site" | jq -r .url | hide_site
printf 'old\n' > out.jsonl
crawl -q --jsonl out.jsonl "$site"
jq -r .url out.jsonl | hide_site
printf 'old\n' > out.jsonl
try crawl -q --jsonl out.jsonl --state st "$site" | hide_site
try crawl -q --kind nonsense "$site" | hide_site
(crawl --jsonl - "$site"; echo "[status $?]" >&2) 2> err | true # the reader of the lines goes away
sed 's/141/141 or 0/; s/status 0/status 141 or 0/' err | grep status
ls -A tmp
TMPDIR=$PWD/nowhere crawl -q "$site" 2>&1 | sed -E 's,/[^ ]*/nowhere,nowhere,; s/[A-Za-z0-9]{6}:/X:/'
stop_site
