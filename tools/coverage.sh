#!/bin/bash
# Runs the unit tests in a build that counts executed lines, and shows which lines of lib/ they run. Fails below 95 %.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh coverage
find build/coverage -name '*.gcda' -delete # counts from an earlier run
{
    echo "== coverage"
    ctest --preset coverage -V -j "$(nproc)" 2>&1 && status=0 || status=$?
    echo "== coverage ended $status"
} </dev/null | awk -f tools/tap.awk
gcovr --root . --object-directory build/coverage --filter lib/ --html-details build/coverage/index.html \
    --print-summary --fail-under-line 95
