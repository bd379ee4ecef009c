#!/bin/sh
# The canonical form surt against the archive's own published cases in $VIDI_TESTDATA/conformance/canon. What is known
# to differ is in canon_exceptions.txt beside this file.
set -u

data=${VIDI_TESTDATA:-}/conformance/canon/internetarchive_surt.json
program=${VIDI_BUILD:-build}/tests/canon_cases

echo 1..1
if [ -z "${VIDI_TESTDATA:-}" ] || [ ! -r "$data" ]; then
    echo "ok 1 - surt # SKIP no test data"
    exit 0
fi
answer=$("$program" "$(dirname "$0")/canon_exceptions.txt" <"$data")
status=$?
summary=$(echo "$answer" | tail -n 1)
if [ $status != 0 ]; then
    echo "not ok 1 - surt: $summary"
    echo "$answer" | head -n 60 | sed 's/^/# /'
    exit 1
fi
case $summary in
absent*) echo "ok 1 - surt # SKIP this build has no ICU or no libpsl" ;;
*) echo "ok 1 - surt: $summary" ;;
esac
