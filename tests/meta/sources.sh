#!/bin/bash
# Every C file of a part is in the list of sources of its CMakeLists.txt. A file that a list names and that does not exist
# is an error when CMake configures.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

# unlisted ROOT: prints the C files that no list names.
unlisted() {
    local part
    for part in lib common fleet cli lab crawler redis python; do
        tr -s ' ()' '\n' <"$1/$part/CMakeLists.txt" | sort -u >"$tmp/listed"
        find "$1/$part" -name '*.c' -printf '%P\n' | sort | comm -23 - "$tmp/listed" | sed "s|^|$part/|"
    done
}

none_in() {
    local found
    found=$(unlisted "$1")
    [ -z "$found" ] || { echo "$found" && false; }
}

# The check must find a planted file; otherwise finding nothing would prove nothing.
finds_a_planted_file() {
    local part
    for part in lib common fleet cli lab crawler redis python; do
        mkdir -p "$tmp/tree/$part"
        echo 'add_library(part STATIC known.c)' >"$tmp/tree/$part/CMakeLists.txt"
        touch "$tmp/tree/$part/known.c"
    done
    mkdir "$tmp/tree/lab/room"
    touch "$tmp/tree/lab/room/known.c"
    [ "$(unlisted "$tmp/tree")" = lab/room/known.c ]
}

check "every C file is in a list of sources" none_in "$VIDI_SOURCE"
check "a file that is in no list is found" finds_a_planted_file
finish
