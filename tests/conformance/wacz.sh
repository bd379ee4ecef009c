#!/bin/bash
# A player of web archives, npm's @webrecorder/wabac (what ReplayWeb.page is made of), opens a WACZ file of a crawl, and
# plays every page: status and body must be those that the site has served. It is installed once, below the build
# folder; without Node or a network the test is skipped. Prints TAP.
set -u

build=${VIDI_BUILD:-build}
here=$(cd "$(dirname "$0")" && pwd)/wacz
node_folder=$build/node/wacz

skip()
{
    echo "1..1"
    echo "ok 1 - wabac plays a WACZ file # SKIP $1"
    exit 0
}

[ -x "$build/tests/site_server" ] || skip "the site server is not built"
for tool in node npm; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
if ! cmp -s "$here/package-lock.json" "$node_folder/installed"; then
    mkdir -p "$node_folder" && cp "$here"/package*.json "$node_folder" || exit 1
    npm ci --prefix "$node_folder" --ignore-scripts --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 \
        >"$node_folder/log" 2>&1 </dev/null || skip "npm cannot install wabac"
    cp "$node_folder/package-lock.json" "$node_folder/installed"
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$here/play.mjs" "$node_folder/play.mjs"

# Crawls a site, and writes the file and the bodies as they were served.
make_wacz()
{
    mkfifo "$work/until" || return 1
    "$build/tests/site_server" --pages 300 --hosts 2 --truth "$work/truth" <"$work/until" >"$work/seeds" &
    exec 8>"$work/until"
    while [ "$(wc -l <"$work/seeds")" -lt 2 ]; do
        kill -0 $! || return 1
        sleep 0.05
    done
    mapfile -t seeds <"$work/seeds"
    "$build/vidi" crawl -q --allow-net loopback --delay 0 --per-host 8 --retries 0 --state "$work/state" "${seeds[@]}" &&
        "$build/vidi" crawl wacz "$work/state" -o "$work/site.wacz" >&2 || return 1
    # The player's answers are compared with the server's, so it must still be there.
    node "$node_folder/play.mjs" "$work/site.wacz" "$work/truth"
}

if make_wacz >"$work/said" 2>"$work/errors"; then
    failed=0
    echo "ok 1 - wabac plays a WACZ file: $(tail -n 1 "$work/said")"
else
    failed=1
    echo "not ok 1 - wabac plays a WACZ file"
    sed 's/^/# /' "$work/said" "$work/errors"
fi
exec 8>&-
echo "1..1"
exit $failed
