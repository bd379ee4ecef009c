mkdir www
printf '<a href=a.html>a</a>' > www/index.html
printf a > www/a.html
start_site www
crawl --header 'X-Key: hushhush' --state st --jsonl out.jsonl "${site/\/\//\/\/user:swordfish@}" 2> err
# They were sent, and stand nowhere.
for file in st/archive/*; do gzip -dc "$file"; done > archive
grep -a -l -e hushhush -e swordfish -e "$(printf user:swordfish | base64)" -r st archive err out.jsonl
grep -a -i '^\(x-key\|authorization\):' archive
echo "-- what only the owner may read"
find st -mindepth 1 -perm /077
stop_site
