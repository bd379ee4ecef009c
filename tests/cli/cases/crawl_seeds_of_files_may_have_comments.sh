mkdir www
printf home > www/index.html
printf a > www/a.html
start_site www
printf '# my sites\n\n  %s \t\n#%snot-this\nexample.org\n%sa.html\nmailto:me@example.org\n' "$site" "$site" "$site" > seeds
crawl -q --depth 0 --jsonl lines --seeds seeds 2>&1 | hide_site
echo "[status ${PIPESTATUS[0]}]"
jq -r .url lines | sort | hide_site
echo -- standard input is read in the same way
grep -v -e example seeds | crawl -q --depth 0 --jsonl - - | jq -r .url | sort | hide_site
echo "[status ${PIPESTATUS[1]}]"
echo -- nothing is left
printf '#\nexample.org\n' > bad
try crawl --seeds bad
printf '# nothing\n' > bad
try crawl --seeds bad
stop_site
