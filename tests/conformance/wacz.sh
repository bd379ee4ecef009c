#!/bin/bash
# A player of web archives, npm's @webrecorder/wabac (what ReplayWeb.page is made of), opens a WACZ file of a crawl, and
# plays every page: status and body must be those that the site has served. It is installed once, below the build
# folder; without Node or a network the test is skipped. Prints TAP.
set -u

build=${VIDI_BUILD:-build}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/conformance/npm.bash
. "$here/npm.bash"

[ -x "$build/tests/site_server" ] || npm_skip "wabac plays a WACZ file" "the site server is not built"
npm_install "wabac plays a WACZ file" "$here/wacz"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

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
