#!/bin/bash
# An independent program, written from the thesis, counts cells again from the URLs and salts that `vidi lab` prints.
# shellcheck source=../../meta/tap.bash
. "$(dirname "$0")/../../meta/tap.bash"
export XDG_CACHE_HOME=$tmp/cache
vidi=$VIDI_BUILD/vidi
python=/usr/bin/python3

# recount HOW OPTION...: the first run of a cell, counted again.
recount() {
    local how=$1
    shift
    "$vidi" lab urls --urls 400 --seed 5 >"$tmp/urls" &&
        "$vidi" lab cell --urls 400 --seed 5 --runs 1 --raw "$@" >"$tmp/raw" &&
        "$python" -B "$VIDI_SOURCE/tests/lab/engine/recount.py" "$tmp/urls" "$tmp/raw" "$how"
}

# One digit of one salt is another one: the count must not be found again.
not_with_other_salts() {
    recount full --k 2 || return 1
    sed -E '$s/(.)$/\1x/; $s/0x$/1/; $s/.x$/0/' "$tmp/raw" >"$tmp/other"
    ! "$python" -B "$VIDI_SOURCE/tests/lab/engine/recount.py" "$tmp/urls" "$tmp/other" full
}

if ! [ -x "$python" ]; then
    skip "counts are found again from URLs and salts" "there is no $python"
    finish
fi
check "one filter" recount full --k 3
check "one filter, incremental" recount incremental --k 2 --incremental
check "two filters" recount full --k 2 --filters 2 --multiplier 1.5
check "two filters in two crawls, incremental" recount incremental --k 1 --filters 2 --crawls 2 --incremental
check "two crawls" recount full --k 1 --crawls 2
check "counters" recount full --k 2 --kind counting
check "two crawls with a function each" recount full --hash 'jenkins|murmur2' --k 2 --crawls 2
check "two crawls with a function each, incremental" \
    recount incremental --hash 'jenkins|murmur2' --k 2 --crawls 2 --incremental --multiplier 1
check "two crawls with different functions and no salts" recount full --hash 'jenkins+murmur2|md5+sha1' --k 2 --crawls 2
check "two crawls that share a function" recount full --hash 'jenkins+murmur2|jenkins+oaat' --k 2 --crawls 2
check "three filters with a function each" recount full --hash 'jenkins|murmur2|sha1' --k 1 --filters 3
check "other salts give another count" not_with_other_salts
finish
