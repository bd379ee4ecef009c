# shellcheck shell=bash
# Prints TAP from a shell script. The scripts in this folder source it. They can also be run by hand, after `make`.
set -u
VIDI_SOURCE=${VIDI_SOURCE:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
VIDI_BUILD=${VIDI_BUILD:-$VIDI_SOURCE/build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

tap_count=0
tap_failed=0

# check NAME COMMAND...: prints "ok" if the command succeeds; otherwise "not ok" and the command's output as comments.
check() {
    local name=$1 output
    shift
    tap_count=$((tap_count + 1))
    if output=$("$@" 2>&1 </dev/null); then
        echo "ok $tap_count - $name"
    else
        echo "not ok $tap_count - $name"
        tap_failed=1
        sed 's/^/# /' <<<"$output"
    fi
}

# skip NAME REASON
skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

finish() {
    echo "1..$tap_count"
    exit $tap_failed
}
