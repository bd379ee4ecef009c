#!/bin/bash
# Measures the module on a server of its own: see redis_bench.c, cluster_bench.c and pauses.py.
#
#   bench/redis/redis.sh BUILD [URLS] [ROUNDS]      default: 1e6 URLs, 3 rounds
#
# URLS may be several numbers, divided by commas. BENCH_ONLY=text measures the subjects whose names contain it, beside
# those that do nothing; BENCH_PIPELINE=1, 16 or 64 measures that pipeline alone. BENCH_PAUSES=5e7 is the number of URLs
# that are added while another client pings (1e6 by default; 0 leaves that out). Prints tables and adds rows to
# BUILD/bench.json.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
urls=${2:-1e6}
rounds=${3:-3}
command -v redis-server >/dev/null || { echo "The module for Redis is not measured: redis-server is not installed." >&2; exit 0; }
[ -f "$build/redisvidi.so" ] || { echo "The module for Redis is not measured: this build has none." >&2; exit 0; }
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null; rm -rf "$tmp"' EXIT

redis-server --port 0 --unixsocket "$tmp/socket" --dir "$tmp" --save '' --logfile "$tmp/log" \
    --loadmodule "$build/redisvidi.so" --loadmodule "$build/bench/redis_nothing.so" &
server=$!
until [ -S "$tmp/socket" ]; do
    kill -0 "$server" 2>/dev/null || { cat "$tmp/log" >&2; exit 1; }
    sleep 0.1
done

for n in ${urls//,/ }; do
    "$build/bench/vidi-redis-bench" "$tmp/socket" "$n" "$rounds" "$tmp/rows"
    cat "$tmp/rows" >>"$tmp/all"
done
"$here/../add_rows.sh" "$build/bench.json" redis <"$tmp/all"

if [ -x "$build/bench/vidi-cluster-bench" ]; then # a set over a cluster: what its client takes
    "$build/bench/vidi-cluster-bench" "redis+unix://$tmp/socket/bench" "${urls%%,*}" "$rounds" "$tmp/rows"
    "$here/../add_rows.sh" "$build/bench.json" cluster <"$tmp/rows"
fi

pauses=${BENCH_PAUSES:-1e6}
[ "$pauses" = 0 ] || "$here/pauses.py" "$build" "$pauses"
