#!/bin/bash
# The public header compiles alone, without warnings, in every language that it supports.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

echo '#include <vidi/vidi.h>' >"$tmp/alone.c"
# The initialiser macros must also compile when they are used.
cat >>"$tmp/alone.c" <<'CODE'
void use(vidi_options *options, vidi_access *access, vidi_plan_request *want);
void use(vidi_options *options, vidi_access *access, vidi_plan_request *want)
{
    vidi_options o = VIDI_OPTIONS_INIT;
    vidi_access a = VIDI_ACCESS_INIT;
    vidi_plan_request w = VIDI_PLAN_REQUEST_INIT;
    *options = o;
    *access = a;
    *want = w;
}
CODE
cp "$tmp/alone.c" "$tmp/alone.cc"

compiles() {
    "$@" -Wall -Wextra -Wpedantic -Werror -I "$VIDI_SOURCE/include" -fsyntax-only
}

for compiler in gcc clang; do
    for standard in c11 c17; do
        if command -v $compiler >/dev/null; then
            check "$compiler, $standard" compiles $compiler -std=$standard "$tmp/alone.c"
        else
            skip "$compiler, $standard" "no $compiler here"
        fi
    done
done
for compiler in g++ clang++; do
    if command -v $compiler >/dev/null; then
        check "$compiler, c++17" compiles $compiler -std=c++17 "$tmp/alone.cc"
    else
        skip "$compiler, c++17" "no $compiler here"
    fi
done
finish
