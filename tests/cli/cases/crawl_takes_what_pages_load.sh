# An archive has what its pages load, also from other hosts, and what style sheets there load; nothing else of them.
mkdir -p www/other
start_site www
port=${site##*:}
port=${port%/}
other=http://other.example:$port/other
printf '<link rel=stylesheet href=%s/s.css><a href=%s/linked.html>x</a><img src=logo.png><a href=two.html>2</a>' \
    "$other" "$other" > www/index.html
printf '<img src=%s/no/p.png><embed src=%s/page.html>' "$other" "$other" > www/two.html
printf '@import "t.css"; a { background: url(bg.png) }' > www/other/s.css
printf 'a { background: url(%sin-scope.png) }' "$site" > www/other/t.css
printf '<a href=further.html>x</a><img src=further.png>' > www/other/page.html
printf 'User-agent: *\nDisallow: /other/no/\n' > www/robots.txt
touch www/logo.png www/in-scope.png www/other/bg.png www/other/{linked,further}.html www/other/further.png
urls_of() # STATE
{
    python3 -c 'import sqlite3, sys
for row in sqlite3.connect(f"file:{sys.argv[1]}/crawl.db?mode=ro", uri=True).execute(
    "SELECT kind, depth, coalesce(nullif(status, 0), reason), file IS NOT NULL, url FROM pages ORDER BY url"): print(*row)' "$1" |
        hide_site | sed "s/:$port/:PORT/"
}
python3 -c 'import sqlite3' 2> /dev/null || skip "there is no python3 with sqlite3"
archive()
{
    crawl -q --resolve "other.example=${site:7:9}" "$@" "$site" 2>&1 | hide_site
}
echo -- all that the pages load
archive --state all --jsonl lines.jsonl
urls_of all
grep -c '"kind":"resource"' lines.jsonl
echo -- what the seed loads is no deeper than the seed
archive --state shallow --depth 0
urls_of shallow
echo -- the pages alone
archive --state pages --pages-only
urls_of pages
echo -- adding it later does not help the pages that are there
crawl --resolve "other.example=${site:7:9}" --state pages "$site" 2>&1 | hide_site | grep warning
crawl --resolve "other.example=${site:7:9}" --state pages "$site" 2>&1 | hide_site | grep -c warning
archive --state pages --revisit
urls_of pages | grep -c resource
echo -- without an archive, nothing, or what is in scope
archive --state unstored --no-store
urls_of unstored | grep -c png
archive --state unstored2 --no-store --resources
urls_of unstored2 | grep png
crawl --state unstored "$site" 2>&1 | grep warning | hide_site
crawl --state unstored2 "$site" 2>&1 | grep warning | hide_site
echo -- one of the two
try crawl --resources --pages-only --state no "$site" | hide_site
crawl -q --state pages --depth 1 --pages-only "$site"
vidi crawl -q --state pages --resources
echo "[status $?]"
stop_site
