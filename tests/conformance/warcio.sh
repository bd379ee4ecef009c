#!/bin/bash
# Another reader of WARC files, npm's warcio, reads what the archive has written: every record, its digests, and an index
# that must be the same as ours. It is installed once, below the build folder; without Node or a network the test is
# skipped. Prints TAP.
set -u

build=${VIDI_BUILD:-build}
here=$(cd "$(dirname "$0")" && pwd)/warcio
program=$build/tests/make_warc
node_folder=$build/node/warcio

skip()
{
    echo "1..1"
    echo "ok 1 - warcio reads the archive # SKIP $1"
    exit 0
}

[ -x "$program" ] || skip "the crawler is not built"
for tool in node npm; do
    command -v $tool >/dev/null || skip "$tool is not installed"
done
if ! cmp -s "$here/package-lock.json" "$node_folder/installed"; then
    mkdir -p "$node_folder" && cp "$here"/package*.json "$node_folder" || exit 1
    npm ci --prefix "$node_folder" --ignore-scripts --no-audit --no-fund --fetch-retries=0 --fetch-timeout=20000 \
        >"$node_folder/log" 2>&1 </dev/null || skip "npm cannot install warcio"
    cp "$node_folder/package-lock.json" "$node_folder/installed"
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$here/check.mjs" "$node_folder/check.mjs"
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
