#!/bin/bash
# Another reader of WARC files, npm's warcio, reads what the archive has written: every record, its digests, and an index
# that must be the same as ours. It is installed once, below the build folder; without Node or a network the test is
# skipped. Prints TAP.
set -u

build=${VIDI_BUILD:-build}
here=$(cd "$(dirname "$0")" && pwd)
program=$build/tests/make_warc
# shellcheck source=tests/conformance/npm.bash
. "$here/npm.bash"

[ -x "$program" ] || npm_skip "warcio reads the archive" "the crawler is not built"
npm_install "warcio reads the archive" "$here/warcio"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if "$program" "$work" >"$work/cdxj" 2>"$work/said" && LC_ALL=C sort -c "$work/cdxj" 2>>"$work/said" &&
    node "$node_folder/check.mjs" "$work/archive" "$work/cdxj" >"$work/said" 2>&1; then
    failed=0
    echo "ok 1 - warcio reads the archive: $(cat "$work/said")"
else
    failed=1
    echo "not ok 1 - warcio reads the archive"
    sed 's/^/# /' "$work/said"
fi
echo "1..1"
exit $failed
