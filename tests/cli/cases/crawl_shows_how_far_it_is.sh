mkdir www
for i in 1 2 3; do printf '<a href=%s.html>next</a>' $((i + 1)) > www/$i.html; done
printf '<a href=1.html>begin</a>' > www/index.html
printf end > www/4.html
printf 'Sitemap: /sitemap.txt\n' > www/robots.txt # what nobody links to is new as well
start_site www
printf '%s5.html\n' "$site" > www/sitemap.txt
printf 5 > www/5.html
line='^[0-9.]+ pages  [0-9.e-]+/s  [0-9.]+ B  (100|[0-9]{1,2}) % of links new  queue [0-9]+(, [0-9.e-]+ (s|ms|min) left)?  [0-9]+ hosts wait  [0-9]+ errors  [a-z0-9. ]+ lost$'
vidi crawl --allow-net loopback --delay 0.5 --progress -q "$site" 2>&1 | tr '\r' '\n' | sed 's/\x1b\[K//; /^$/d' > lines
grep -E "$line" lines | head -n 1 | wc -l
grep -vE "$line" lines
grep -cE 'queue [1-9][0-9]*, [0-9.]+ (s|ms|min) left' lines | sed 's/[1-9][0-9]*/a forecast/'
# Neither a file nor a pipe asks for it, and --quiet says nothing at all.
crawl "$site" 2>&1 | grep -c 'links new'
crawl -q "$site"
# On a terminal it is shown, and cut to the width.
if command -v script > /dev/null; then
    TERM=xterm NO_COLOR=1 script -qec "stty cols 40; vidi crawl --allow-net loopback --delay 0.5 $site" drawn < /dev/null > /dev/null
    tr '\r' '\n' < drawn | sed 's/\x1b\[K//' | grep ' pages  ' | grep -v expected | awk '{ print (length <= 39 ? "fits" : "too long: " $0) }' | sort -u
else
    echo fits
fi
stop_site
