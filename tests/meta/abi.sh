#!/bin/bash
# The binary interfaces equal the committed descriptions in tests/data/abi. After an intended change, `make abi`
# rewrites them. Programs compiled with an older header must keep working with the current library.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

if ! command -v abidw >/dev/null || [ "$(uname -m)" != x86_64 ]; then
    skip "the interface is the committed one" "needs abidw (Debian's abigail-tools) on x86-64"
    finish
    exit 0
fi

headers=("$VIDI_SOURCE"/include/vidi/{vidi,url,transfer}.h)
committed=$VIDI_SOURCE/tests/data/abi/vidi.abi

is_committed() {
    "$VIDI_SOURCE/tools/abi.sh" "$@" "$tmp/abi" && diff "$committed" "$tmp/abi" | head -n 40 && cmp -s "$committed" "$tmp/abi"
}

# finds EXPRESSION: succeeds if the check notices a header changed by this sed expression.
finds() {
    sed -E "$1" "${headers[@]}" >"$tmp/changed.h"
    ! cmp -s <(cat "${headers[@]}") "$tmp/changed.h" && ! is_committed "$tmp/changed.h"
}

check "the interface is the committed one" is_committed "${headers[@]}"
cluster_is_committed() {
    "$VIDI_SOURCE/tools/abi.sh" --types "$VIDI_SOURCE/include/vidi/vidi.h" "$1" "$tmp/cluster_abi" &&
        diff "$VIDI_SOURCE/tests/data/abi/vidi-cluster.abi" "$tmp/cluster_abi"
}

# finds_in_cluster EXPRESSION: likewise for cluster.h.
finds_in_cluster() {
    sed -E "$1" "$VIDI_SOURCE/include/vidi/cluster.h" >"$tmp/cluster.h"
    ! cmp -s "$VIDI_SOURCE/include/vidi/cluster.h" "$tmp/cluster.h" && ! cluster_is_committed "$tmp/cluster.h" >/dev/null
}

check "the interface to clusters is the committed one" cluster_is_committed "$VIDI_SOURCE/include/vidi/cluster.h"
check "a changed field of a claim is found" finds_in_cluster 's/vidi_str url, payload;/vidi_str payload, url;/'
check "a changed parameter of a claim is found" finds_in_cluster 's/const char \*owner, uint64_t \*given/const char *owner, uint32_t *given/'
check "a field inserted into vidi_stats is found" finds 's/^    uint64_t epoch; .*/&\n    uint64_t inserted;/'
check "a changed number is found" finds 's/VIDI_EBUSY = -12/VIDI_EBUSY = -14/'
check "a changed parameter is found" finds 's/vidi_count\(const vidi_set \*set, vidi_str url, uint64_t/vidi_count(const vidi_set *set, vidi_str url, uint32_t/'
check "a function that is gone is found" finds '/^VIDI_API int vidi_sync\(/d'
check "a changed part of a URL is found" finds 's/^    int32_t port_number;/    int64_t port_number;/'
finish
