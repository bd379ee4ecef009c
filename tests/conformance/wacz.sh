#!/bin/bash
# A player of web archives, npm's @webrecorder/wabac (what ReplayWeb.page is made of), opens a WACZ file of a crawl, and
# plays every page: status and body must be those that the site has served. So must those of a site that is visited
# twice, whose bodies are for the most part in other records. The player is installed once, below the build folder;
# without Node or a network the tests are skipped. Prints TAP.
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
    mkfifo "$work/until" && : >"$work/seeds" || return 1
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

failed=0
tests=0

# tell TITLE COMMAND...: one test.
tell()
{
    local title=$1
    shift
    tests=$((tests + 1))
    if "$@" >"$work/said" 2>"$work/errors"; then
        echo "ok $tests - $title: $(tail -n 1 "$work/said")"
    else
        failed=1
        echo "not ok $tests - $title"
        sed 's/^/# /' "$work/said" "$work/errors"
    fi
}

tell "wabac plays a WACZ file" make_wacz
exec 8>&-
tell "wabac plays revisits" node "$node_folder/revisits.mjs" "$build/vidi" "$work"
echo "1..$tests"
exit $failed
