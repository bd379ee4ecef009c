#!/bin/bash
# Compares `vidi crawl` with the crawlers people use instead, on two sites of a local server that is not the limit: small
# pages that are made up, and PostgreSQL's manual as Debian packs it.
#
#   bench/crawl/crawl.sh BUILD [PAGES] [ROUNDS] [FOLDER]     default: 20000 pages, 3 rounds; FOLDER is where all of them write
#
# All take turns, so that other work on the machine affects all of them; slow ones (over 20 s) run once. The server counts
# the pages that were asked for: a crawler that has not fetched all of them gets no row. Prints a table for each site and adds rows
# to BUILD/bench.json. No crawler waits between requests, as only one's own servers allow. BENCH_CRAWLERS limits which ones
# take part: BENCH_CRAWLERS='vidi|wget2'.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
pages=${2:-20000}
rounds=${3:-3}
if ! "$build/vidi" crawl --help > /dev/null 2>&1; then
    echo "crawls are left out: this build of vidi has none" >&2
    exit 0
fi
tmp=$(mktemp -d -p "$(cd "${4:-$build}" && pwd)" bench-crawl.XXXXXX)
manual=/usr/share/doc/postgresql-doc-15/html
server=
first_host=127.0.0.1
trap 'stop_server; rm -rf "$tmp"' EXIT
cd "$tmp"
bad=0

start_server() { # --pages N, --folder DIR or --web N
    mkfifo in
    "$build/bench/vidi-site-server" "$@" < in > port &
    server=$!
    exec 3> in
    until [ -s port ]; do
        kill -0 "$server"
        sleep 0.05
    done
    url=http://$first_host:$(cat port)/
}
stop_server() { # it ends when its input does
    [ -n "$server" ] || return 0
    exec 3>&-
    wait "$server"
    server=
    rm -f in port
}
# What was asked for since the last call: pages, requests for pages, other requests.
counted() {
    local line
    exec 4<> "/dev/tcp/127.0.0.1/$(cat port)"
    printf 'GET /.count HTTP/1.1\r\nHost: localhost\r\n\r\n' >&4
    while read -r line <&4 && [ "$line" != $'\r' ]; do :; done
    read -r line <&4
    exec 4>&-
    echo "$line"
}
has() {
    command -v "$1" > /dev/null || { echo "$1 is left out: it is not installed" >&2; return 1; }
}

# ---- the crawlers; each is called with the URL as its last argument and works in an empty folder ----

names=() commands=()
add() { # NAME COMMAND
    if [[ $1 =~ ${BENCH_CRAWLERS:-.} ]]; then
        names+=("$1") commands+=("$2")
    fi
}
vidi="$build/vidi crawl -q --allow-net 127.0.0.0/8 --delay 0 --per-host 64 --state state"
add 'vidi crawl --no-store' "$vidi --no-store"
add 'vidi crawl' "$vidi"
add 'vidi crawl --revisit' "$vidi --revisit" # of a site that has not changed; the first visit is not measured
if has wget; then
    add 'wget -r' 'wget -r -l inf -nv -o /dev/null'
    add 'wget -r --warc-file' 'wget -r -l inf -nv -o /dev/null --warc-file=site'
fi
if has wget2; then
    add 'wget2 -r' 'wget2 -r -l inf -q'
    # The one peer that can do without files.
    add 'wget2 -r --delete-after' 'wget2 -r -l inf -q --delete-after --max-threads=20'
fi
has scrapy && add 'scrapy' "scrapy runspider $here/crawl_spider.py --nolog -a start="

# ---- measuring ----

declare -A seconds processor resident wrong
# Numbers, one a line or a word: the best, and the median.
best() { tr ' ' '\n' | sort -g | sed -n 1p; }
median() { tr ' ' '\n' | sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

run() { # INDEX: runs it once
    local name=${names[$1]} command=${commands[$1]} asked requests begin end user system kilobytes
    [ "${command%=}" != "$command" ] || command+=' ' # "start=" takes the URL as it is
    mkdir work
    cd work
    if [[ $command == *--revisit* ]]; then
        bash -c "exec $command$url"
        (cd .. && counted) > /dev/null
    fi
    begin=$EPOCHREALTIME
    # wget ends with 8 because the site has no robots.txt.
    /usr/bin/time -q -o ../time -f '%U %S %M' bash -c "exec $command$url" > ../output 2>&1 || true
    end=$EPOCHREALTIME
    cd ..
    rm -rf work
    read -r asked requests _ < <(counted)
    if [ "$asked" != "$expected" ] || { [[ $name == vidi* ]] && [ "$requests" != "$asked" ]; }; then
        wrong[$name]="$asked of $expected pages in $requests requests"
        tail -n 3 output >&2
        return
    fi
    read -r user system kilobytes < <(tail -n 1 time)
    seconds[$name]+="${seconds[$name]:+ }$(awk -v b="$begin" -v e="$end" 'BEGIN { printf "%.4f", e - b }')"
    processor[$name]+="${processor[$name]:+ }$(awk -v u="$user" -v s="$system" 'BEGIN { print u + s }')"
    resident[$name]=$kilobytes
}

table() { # rates and shares of a site
    local name ours
    printf '%-28s %9s %9s %12s %10s %10s\n' "$1" pages/s median 'us of CPU' resident 'vidi is'
    for name in "${names[@]}"; do
        if [ -n "${wrong[$name]-}" ]; then
            echo "$name has no row: it fetched ${wrong[$name]}" >&2
            bad=1
            continue
        fi
        ours=${seconds[$(ours_for "$name")]-}
        awk -v name="$name" -v n="$expected" -v s="$(best <<< "${seconds[$name]}")" -v m="$(median <<< "${seconds[$name]}")" \
            -v p="$(best <<< "${processor[$name]}")" -v k="${resident[$name]}" -v v="$(best <<< "${ours:-0}")" 'BEGIN {
            printf "%-28s %9.0f %9.0f %12.1f %7.0f MB", name, n / s, n / m, p / n * 1e6, k / 1024
            print (v > 0 ? sprintf(" %9.1fx", s / v) : "")
        }'
    done
}
# A peer that writes an archive is compared with the crawl that writes one.
ours_for() {
    case $1 in
    *warc* | *revisit* | 'vidi crawl') echo 'vidi crawl' ;;
    *any) echo "$1" ;;
    *) echo 'vidi crawl --no-store' ;;
    esac
}
rows() { # SITE
    local name ours
    for name in "${names[@]}"; do
        ours=$(ours_for "$name")
        if [ -z "${seconds[$ours]-}" ] || [ -z "${seconds[$name]-}" ] || [ -n "${wrong[$name]-}${wrong[$ours]-}" ]; then
            continue
        fi
        awk -v site="$1" -v subject="$ours" -v name="$name" -v n="$expected" -v b="$bytes" -v r="$rounds" \
            -v s="$(best <<< "${seconds[$name]}")" -v v="$(best <<< "${seconds[$ours]}")" \
            -v p="$(best <<< "${processor[$name]}")" -v k="${resident[$name]}" 'BEGIN {
            peer = name == subject ? "null" : "\"" name "\""
            printf "{\"name\":\"crawl\",\"subject\":\"%s\",\"peer\":%s,\"n\":%d,", subject, peer, n
            printf "\"ns_per_op\":%.6g,\"bytes_per_op\":%.6g,", v / n * 1e9, b / n
            printf "\"ratio\":%s,", peer == "null" ? "null" : sprintf("%.6g", s / v)
            printf "\"note\":\"%s; %s takes %.6g ns a page, %.6g of processor time, ", site, name, s / n * 1e9, p / n * 1e9
            printf "%d KiB resident\",\"rounds\":%d}\n", k, r
        }'
    done
}

measure() { # SITE EXPECTED BYTES SERVER-OPTIONS…
    local site=$1 i round
    expected=$2 bytes=$3
    shift 3
    seconds=() processor=() resident=() wrong=()
    start_server "$@"
    for ((round = 1; round <= rounds; round++)); do
        for i in "${!names[@]}"; do
            if [ -n "${wrong[${names[$i]}]-}" ] ||
                { [ "$round" -gt 1 ] && awk -v s="${seconds[${names[$i]}]%% *}" 'BEGIN { exit s < 20 }'; }; then
                continue
            fi
            run "$i"
        done
    done
    stop_server
    table "$site"
    rows "$site" >> rows.json
}

echo "crawls without waiting; best of $rounds rounds, taking turns; everybody fetches all pages"
measure "$pages small pages" "$pages" "$((pages * 1230))" --pages "$pages"
if [ -d "$manual" ]; then
    # The first page has two URLs: / and /index.html.
    html=$(find "$manual" -name '*.html' | wc -l)
    measure 'the manual of PostgreSQL' "$((html + 1))" "$(cat "$manual"/*.html | wc -c)" --folder "$manual"
else
    echo "the manual of PostgreSQL is left out: package postgresql-doc-15 is not installed" >&2
fi
# Many hosts at one address: no peer has budgets for sites, or takes an address for all names.
hosts=$((pages / 10)) first_host=s0.test
names=() commands=()
add 'vidi crawl --scope any' "$vidi --no-store --scope any --resolve *=127.0.0.1 --max-address-sites 1e9"
measure "a web of $hosts hosts" "$((hosts * 10))" "$((hosts * 10 * 450))" --web "$hosts"
"$here/../add_rows.sh" "$build/bench.json" crawl < rows.json
exit "$bad"
