#!/bin/bash
# Measures the module: processor time of the server for a command, next to the server's own commands and to a module's
# command that does nothing.
#
#   bench/redis/redis.sh BUILD [URLS] [ROUNDS]      default: 1e6 URLs, 3 rounds
#
# redis-benchmark sends the commands. Every item is a new URL of some 45 bytes, apart from a few repeats in a thousand.
# The commands take turns, each on a key of its own that is empty at the start of a round; figures are of the best round.
# Memory is what MEMORY USAGE says when all URLs are in.
set -eu
export LC_ALL=C
build=$(cd "${1:-build}" && pwd)
urls=$(awk -v n="${2:-1e6}" 'BEGIN { printf "%d", n }')
rounds=${3:-3}
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null; rm -rf "$tmp"' EXIT
command -v redis-benchmark redis-server redis-cli >/dev/null || { echo "redis-server is not installed" >&2; exit 0; }

redis-server --port 0 --unixsocket "$tmp/socket" --dir "$tmp" --save '' --logfile "$tmp/log" \
    --loadmodule "$build/redisvidi.so" --loadmodule "$build/bench/redis_nothing.so" &
server=$!
cli() { redis-cli -s "$tmp/socket" "$@"; }
until cli ping >/dev/null 2>&1; do kill -0 "$server" && sleep 0.1; done

# Microseconds of processor time that the server's main thread has taken.
spent() {
    cli info cpu | tr -d '\r' | awk -F: '/^used_cpu_(user|sys)_main_thread/ { sum += $2 } END { printf "%.0f\n", sum * 1e6 }'
}

url=http://www.example.com/a/path/__rand_int__.html
hundred=$(for i in $(seq 100); do printf '%s?%d ' "$url" "$i"; done)
# name, pipeline, items a command, how the key is made, command
subjects() {
    local pipeline
    for pipeline in 1 16 64; do
        cat <<LIST
PING|$pipeline|1||PING
nothing|$pipeline|1||NOTHING.ADD k $url
SET NX|$pipeline|1||SET $url 1 NX
SADD|$pipeline|1||SADD k $url
VIDI.ADD|$pipeline|1|VIDI.RESERVE k CAPACITY $urls|VIDI.ADD k $url
VIDI.HAS|$pipeline|1|VIDI.RESERVE k CAPACITY $urls|VIDI.HAS k $url
BF.ADD fixed|$pipeline|1|BF.RESERVE k 0.01 $urls NONSCALING|BF.ADD k $url
BF.ADD scaling|$pipeline|1||BF.ADD k $url
LIST
    done
    cat <<LIST
VIDI.MADD 100|16|100|VIDI.RESERVE k CAPACITY $urls|VIDI.MADD k $hundred
BF.MADD 100 fixed|16|100|BF.RESERVE k 0.01 $urls NONSCALING|BF.MADD k $hundred
LIST
}

# measure NAME PIPELINE ITEMS MAKE COMMAND: adds a line NAME|PIPELINE|us an item|bytes a URL to the results.
measure() {
    local before after bytes n=$((urls / $3))
    cli flushall >/dev/null
    # shellcheck disable=SC2086
    [ -z "$4" ] || [ "$(cli $4)" = OK ] || return 0
    [ "$1" != VIDI.HAS ] || redis-benchmark -s "$tmp/socket" -n "$urls" -r 2000000000 -P 64 -q VIDI.ADD k "$url" >/dev/null
    before=$(spent)
    # shellcheck disable=SC2086
    redis-benchmark -s "$tmp/socket" -n "$n" -r 2000000000 -P "$2" -q $5 >"$tmp/output" 2>&1 || return 0 # no such command
    after=$(spent)
    bytes=$(cli memory usage k samples 0 2>/dev/null || true)
    awk -v n="$((n * $3))" -v us=$((after - before)) -v bytes="${bytes:-0}" -v name="$1" -v pipeline="$2" \
        'BEGIN { printf "%s|%d|%.3f|%.2f\n", name, pipeline, us / n, bytes / n }' >>"$tmp/results"
}

subjects | { [ -z "${BENCH_ONLY-}" ] && cat || grep -E "${BENCH_ONLY-}"; } >"$tmp/subjects"
for _ in $(seq "$rounds"); do
    while IFS='|' read -r name pipeline items make command; do
        measure "$name" "$pipeline" "$items" "$make" "$command" </dev/null
    done <"$tmp/subjects"
done

echo "$urls URLs, microseconds of server time an item, best and median of $rounds rounds; beyond: more than nothing takes"
sort -t'|' -k1,2 -k3,3n "$tmp/results" | awk -F'|' '
    { key = $1 "|" $2; if (!(key in best)) { best[key] = $3; bytes[key] = $4 } all[key] = all[key] " " $3; count[key]++ }
    END { for (key in best) { split(all[key], list, " "); print key "|" best[key] "|" list[int((count[key] + 1) / 2)] "|" bytes[key] } }' |
    sort -t'|' -k2,2n -k3,3n >"$tmp/best"
awk -F'|' 'NR == FNR { if ($1 == "nothing") { least[$2] = $3; middle[$2] = $4 } next }
    FNR == 1 { printf "%-20s %8s %8s %8s %8s %8s %10s\n", "", "pipeline", "best", "median", "beyond", "(median)", "bytes/URL" }
    { printf "%-20s %8d %8.3f %8.3f %8.3f %8.3f %10s\n", $1, $2, $3, $4, $3 - least[$2], $4 - middle[$2], ($5 > 0 ? $5 : "") }' \
    "$tmp/best" "$tmp/best"
