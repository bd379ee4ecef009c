#!/bin/sh
# Shows the main job on 200,000 links as a crawler finds them, many of them to the same pages, crawls a small site, and,
# where redis-server is installed, shares a set through a server.
set -eu
cd "$(dirname "$0")/.."
PATH=$PWD/build:$PATH
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

bold='' plain=''
if [ -t 1 ]; then
    bold=$(printf '\033[1m') plain=$(printf '\033[0m')
fi
say() {
    printf '\n%s%s%s\n' "$bold" "$*" "$plain"
}

# Some pages are linked far more often than others. The numbers come from a fixed generator, so every run is the same.
awk 'BEGIN {
    split("www.example.com news.example.org shop.example.net wiki.example.edu blog.example.com", host)
    split("article product topic user", section)
    for (x = i = 1; i <= 200000; i++) {
        x = (x * 16807) % 2147483647
        u = x / 2147483647
        page = int(100000 * u * u)
        printf "https://%s/%s/%d.html%s\n", host[page % 5 + 1], section[page % 4 + 1], page, page % 7 ? "" : "?ref=home"
    }
}' >"$dir/links"

say '200,000 links found by a crawler, many of them repeats:'
head -n 4 "$dir/links"

say '$ vidi --stats < links > new'
vidi --stats <"$dir/links" >"$dir/new"

say 'Compare this with a full sort:'
echo "vidi says new:       $(wc -l <"$dir/new")"
echo "sort -u | wc -l:     $(sort -u "$dir/links" | wc -l)"

say 'What would a crawl of a billion pages need, if at most one page may be lost?'
echo '$ vidi plan --urls 1e9 --lost 1'
vidi plan --urls 1e9 --lost 1

# A site of 200 pages on this machine; each links to the next ones, and page 17 to one that is not there.
mkdir "$dir/site"
awk -v dir="$dir/site" 'BEGIN {
    for (i = 0; i < 200; i++) {
        file = dir "/" (i ? i : "index") ".html"
        for (j = 1; j <= 5; j++)
            if (i * 3 + j < 200)
                printf "<a href=\"%d.html\">page %d</a>\n", i * 3 + j, i * 3 + j > file
        if (i == 17)
            print "<a href=\"/old/news.html\">old news</a>" > file
        print "<a href=\"/\">home</a> <a href=\"mailto:me@example.org\">write to me</a>" > file
        close(file)
    }
}'
mkfifo "$dir/until"
build/bench/vidi-site-server --folder "$dir/site" <"$dir/until" >"$dir/port" &
exec 3>"$dir/until" # the server ends when this is closed
until [ -s "$dir/port" ]; do
    kill -0 $! # the demo ends if the server does
    sleep 0.1
done
url=http://127.0.0.1:$(cat "$dir/port")/

say 'A crawler is built around it. Archive a small site on this machine, without pauses, because it is our own:'
echo "$ vidi crawl --state crawl --allow-net loopback --delay 0 $url"
vidi crawl --state "$dir/crawl" --allow-net loopback --delay 0 "$url"
wc -c "$dir"/crawl/archive/* | sed "s,$dir/,,"

say 'Find its broken links:'
echo "$ vidi crawl --check --quiet --allow-net loopback --delay 0 $url"
vidi crawl --check --quiet --allow-net loopback --delay 0 "$url" || echo "(exit status $?)"
exec 3>&-
wait

if ! command -v redis-server >/dev/null || [ ! -e build/redisvidi.so ]; then
    say 'With redis-server installed, this demo would go on with the module for Redis and Valkey (docs/REDIS.md).'
    exit
fi
redis-server --port 0 --unixsocket "$dir/redis" --save '' --loadmodule "$PWD/build/redisvidi.so" >"$dir/redis.log" &
trap 'kill $! 2>/dev/null || :; wait; rm -rf "$dir"' EXIT
until redis-cli -s "$dir/redis" PING >/dev/null 2>&1; do
    kill -0 $!
    sleep 0.1
done
redis() {
    echo "> $*"
    redis-cli --no-raw -s "$dir/redis" "$@"
}

say 'A fleet of crawlers shares a set through Redis or Valkey. Move one there:'
vidi --quiet --state "$dir/state" <"$dir/links" >"$dir/new"
echo '$ vidi export state --redis crawl | redis-cli --pipe'
vidi export "$dir/state" --redis crawl | redis-cli -s "$dir/redis" --pipe | tail -n 1
page=$(head -n 1 "$dir/links")
redis VIDI.ADD crawl "$page"
redis VIDI.ADD crawl https://www.example.com/never/seen.html
redis VIDI.INFO crawl | sed -n '1,3p;8,9p'

say 'A worker claims a page before it fetches it. If it dies, another one gets the page and its payload:'
redis VIDI.CLAIM crawl worker-1 1 https://www.example.com/next.html depth=3
sleep 0.1
redis VIDI.RECLAIM crawl worker-2 60000 COUNT 10
