#!/bin/bash
# An independent program derives the figures of a link graph again: its facts, and how losses should compound in it.
# shellcheck source=../../meta/tap.bash
. "$(dirname "$0")/../../meta/tap.bash"
export XDG_CACHE_HOME=$tmp/cache
python=/usr/bin/python3
again=$VIDI_SOURCE/tests/lab/graph/graph_again.py

derived_again() {
    "$python" -B "$again" check "$1" "$tmp/csv"
}

# With one link less, the figures must not be the same.
not_of_another_graph() {
    sed '7d' "$tmp/graph" >"$tmp/other"
    derived_again "$tmp/other" | grep 'links per page: .* derived again'
}

if ! [ -x "$python" ]; then
    skip "facts and theory of a graph are derived again" "there is no $python"
    finish
fi
"$python" -B "$again" make >"$tmp/graph"
# A cell has no theory if nothing is lost in any run.
"$VIDI_BUILD/vidi" lab run graph-properties graph-order graph-errors --graph "$tmp/graph" --urls 500 --runs 40 --precision 0 \
    --csv >"$tmp/csv"
check "facts and theory of a graph are derived again" derived_again "$tmp/graph"
check "another graph has other figures" not_of_another_graph
finish
