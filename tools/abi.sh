#!/bin/bash
# tools/abi.sh [--types HEADER] HEADER... OUTPUT: describes the binary interface that the headers declare: their functions,
# structs and enums, with every field, offset and value. Of a header after --types only the types are needed; its functions
# belong to another library. `make abi` writes tests/data/abi/*.abi this way; tests/meta/abi.sh checks them.
#
# The description comes from abidw, which reads debug information. To save time, this compiles only the headers, with an
# empty body for every function, instead of the library. The interface is the same, because tests/meta/symbols.sh checks
# that the library exports exactly these functions.
set -euo pipefail
types=
if [ "$1" = --types ]; then
    types=$2
    shift
fi
headers=("${@:1:$#-1}") output=${*: -1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
    awk -v types="$types" '
        /^#include "vidi\// { next } # all of them follow one another
        FILENAME == types { print; next }
        /^VIDI_API / { open = 1 }
        open && /;$/ { sub(/;$/, " { __builtin_trap(); }"); open = 0 }
        /^enum [a-z_]+ \{$/ { enums[++count] = $2 }
        { print }
        END {
            # An enum is described only if a function takes it.
            for (i = 1; i <= count; i++)
                printf "VIDI_API void abi_%s(enum %s value);\nVIDI_API void abi_%s(enum %s value) { (void)value; }\n",
                    enums[i], enums[i], enums[i], enums[i]
        }' "${headers[@]}"
} >"$work/interface.c"
(cd "$work" && gcc -std=c11 -g -O0 -shared -fPIC -fvisibility=hidden -o libvidi.so interface.c)
(cd "$work" && abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-write-default-sizes \
    --type-id-style hash libvidi.so) |
    sed -E "s/ (comp-dir-path|path|language|soname|architecture|version)='[^']*'//g" >"$output"
