#!/bin/bash
# Each public header compiles alone, without warnings, in every language that it supports.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

for name in url transfer; do
    echo "#include <vidi/$name.h>" | tee "$tmp/$name.c" >"$tmp/$name.cc"
done
echo '#include <vidi/vidi.h>' >"$tmp/vidi.c"
# The initialiser macros must also compile when they are used.
cat >>"$tmp/vidi.c" <<'CODE'
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
cat >"$tmp/cluster.c" <<'CODE'
#include <vidi/cluster.h>

void use(vidi_cluster_access *access);
void use(vidi_cluster_access *access)
{
    vidi_cluster_access a = VIDI_CLUSTER_ACCESS_INIT;
    *access = a;
}
CODE
cp "$tmp/vidi.c" "$tmp/vidi.cc"
cp "$tmp/cluster.c" "$tmp/cluster.cc"

# compiles SUFFIX COMPILER ARGUMENT...
compiles() {
    local suffix=$1 name
    shift
    for name in vidi url transfer cluster; do
        "$@" -Wall -Wextra -Wpedantic -Werror -I "$VIDI_SOURCE/include" -fsyntax-only "$tmp/$name.$suffix" || return 1
    done
}

for compiler in gcc clang; do
    for standard in c11 c17; do
        if command -v $compiler >/dev/null; then
            check "$compiler, $standard" compiles c $compiler -std=$standard
        else
            skip "$compiler, $standard" "no $compiler here"
        fi
    done
done
for compiler in g++ clang++; do
    if command -v $compiler >/dev/null; then
        check "$compiler, c++17" compiles cc $compiler -std=c++17
    else
        skip "$compiler, c++17" "no $compiler here"
    fi
done
finish
