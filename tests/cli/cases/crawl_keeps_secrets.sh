mkdir www
printf '<a href=a.html>a</a>' > www/index.html
printf a > www/a.html
start_site www --log log
crawl --header 'X-Key: hushhush' --state st --jsonl out.jsonl "${site/\/\//\/\/user:swordfish@}" 2> err
cat err out.jsonl log | hide_site | grep -c .
grep -c 'X-Key: hushhush' log
grep -c "Authorization: Basic $(printf user:swordfish | base64)" log
# Nowhere else, also not in the archive.
for file in st/archive/*; do gzip -dc "$file"; done > archive
grep -a -l -e hushhush -e swordfish -e "$(printf user:swordfish | base64)" -r st archive err out.jsonl
grep -a -i '^\(x-key\|authorization\):' archive
stop_site
