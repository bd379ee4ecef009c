#!/bin/bash
# tools/abi.sh HEADER OUTPUT: describes the binary interface that a header declares: its functions, structs and enums,
# with every field, offset and value. `make abi` writes tests/data/abi/vidi.abi with it, and tests/meta/abi.sh compares.
#
# The description comes from abidw, which reads debug information. What is compiled for it is not the library but the
# header with an empty body behind every function: that has the same interface, because tests/meta/symbols.sh shows that
# the library exports just these functions, and it takes a fraction of a second.
set -euo pipefail
header=$1 output=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

{
    awk '
        /^VIDI_API / { open = 1 }
        open && /;$/ { sub(/;$/, " { __builtin_trap(); }"); open = 0 }
        /^enum [a-z_]+ \{$/ { enums[++count] = $2 }
        { print }
        END {
            # An enum is described only if a function takes it.
            for (i = 1; i <= count; i++)
                printf "VIDI_API void abi_%s(enum %s value);\nVIDI_API void abi_%s(enum %s value) { (void)value; }\n",
                    enums[i], enums[i], enums[i], enums[i]
        }' "$header"
} >"$work/interface.c"
(cd "$work" && gcc -std=c11 -g -O0 -shared -fPIC -fvisibility=hidden -o libvidi.so interface.c)
(cd "$work" && abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-write-default-sizes \
    --type-id-style hash libvidi.so) |
    sed -E "s/ (comp-dir-path|path|language|soname|architecture|version)='[^']*'//g" >"$output"
