#!/bin/bash
# The theory of tables that rest on formulas alone, computed again by an independent program.
# shellcheck source=../../meta/tap.bash
. "$(dirname "$0")/../../meta/tap.bash"
export XDG_CACHE_HOME=$tmp/cache
python=/usr/bin/python3

# computed_again WHAT URLS ID...
computed_again() {
    local what=$1 urls=$2
    shift 2
    "$VIDI_BUILD/vidi" lab run "$@" --urls "$urls" --runs 1 --csv >"$tmp/csv" &&
        "$python" -B "$VIDI_SOURCE/tests/lab/engine/formulas.py" "$what" "$urls" "$tmp/csv"
}

if ! [ -x "$python" ]; then
    skip "theory is computed again" "there is no $python"
    finish
fi
check "the filters people use now" computed_again peers 100000 peers-lost
check "revisits" computed_again revisits 20000 revisits-churn-10 revisits-4-bits revisits-never
check "the multi-layer paper's program" computed_again program 4000 multilayer-program
finish
