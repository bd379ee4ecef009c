#!/bin/sh
# Shows the main job on 200,000 links as a crawler finds them, many of them to the same pages.
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
