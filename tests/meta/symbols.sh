#!/bin/bash
# Each shared library exports exactly the functions that its public headers declare with VIDI_API (libvidi-cluster those of
# cluster.h, libvidi those of all others), and the module for
# Redis only its entry: two modules in one server may contain two versions of the library. The module's file must load on
# other distributions: it may need no library whose name or symbols change with its version, as ICU's do.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

# declared_in HEADER...
declared_in() {
    sed -n 's/^VIDI_API [^(]*[ *]\(vidi_[a-z0-9_]*\)(.*/\1/p' "$@" | sort
}

declared_in "$VIDI_SOURCE"/include/vidi/{vidi,url,transfer}.h >"$tmp/declared"
declared_in "$VIDI_SOURCE/include/vidi/cluster.h" >"$tmp/declared_cluster"
nm -D --defined-only "$VIDI_BUILD/libvidi.so" | awk '{ print $3 }' | sort >"$tmp/exported"

# in_tour: succeeds if the tour of the interface (tests/support/tour.c) calls every function. vidi_message is what it watches.
in_tour() {
    local name missing=
    while read -r name; do
        grep -q "\b$name(" "$VIDI_SOURCE/tests/support/tour.c" || missing="$missing $name"
    done < <(grep -v '^vidi_message$' "$tmp/declared")
    [ -z "$missing" ] || { echo "not in the tour:$missing" && false; }
}

check "the tour calls every function" in_tour
check "the headers declare functions" test -s "$tmp/declared"
check "declared and exported functions are the same" diff "$tmp/declared" "$tmp/exported"
check "every public header belongs to a library" \
    diff <(cat "$tmp/declared" "$tmp/declared_cluster" | sort) <(declared_in "$VIDI_SOURCE"/include/vidi/*.h)
if [ -f "$VIDI_BUILD/libvidi-cluster.so" ]; then
    nm -D --defined-only "$VIDI_BUILD/libvidi-cluster.so" | awk '{ print $3 }' | sort >"$tmp/exported_cluster"
    check "cluster.h declares functions" test -s "$tmp/declared_cluster"
    check "those of cluster.h are the ones that libvidi-cluster exports" \
        diff "$tmp/declared_cluster" "$tmp/exported_cluster"
    nm --defined-only --extern-only "$VIDI_BUILD/libvidi-cluster.a" | awk 'NF == 3 { print $3 }' | sort >"$tmp/archived"
    check "its archive has no other global names" diff "$tmp/declared_cluster" "$tmp/archived"
    check "both work without OpenSSL" \
        diff /dev/null <(readelf -d "$VIDI_BUILD/libvidi-cluster.so" | grep -E 'NEEDED.*lib(ssl|crypto)')
else
    skip "those of cluster.h are the ones that libvidi-cluster exports" "it was not built"
fi
if [ -f "$VIDI_BUILD/redisvidi.so" ]; then
    nm -D --defined-only "$VIDI_BUILD/redisvidi.so" | awk '{ print $3 }' >"$tmp/entry"
    check "the module exports its entry alone" diff <(echo RedisModule_OnLoad) "$tmp/entry"
    # libc, and what compilers and sanitizers add. libcrypto and libxxhash: where their archives are not installed.
    may='lib(c|m|pthread|dl|gcc_s|asan|ubsan|tsan)|ld-linux[-_a-z0-9]*|libcrypto|libxxhash'
    readelf -d "$VIDI_BUILD/redisvidi.so" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$tmp/needed"
    check "the module needs libc" grep -q '^libc\.so' "$tmp/needed"
    check "the module needs no library that distributions have in other versions" \
        diff /dev/null <(grep -vE "^($may)\.so" "$tmp/needed")
    check "the module has no symbols of ICU's version" \
        diff /dev/null <(nm -D --undefined-only "$VIDI_BUILD/redisvidi.so" | grep -E '(^| )u[a-z]*_[A-Za-z0-9_]+_[0-9]+$')
else
    skip "the module exports its entry alone" "it was not built"
fi
finish
