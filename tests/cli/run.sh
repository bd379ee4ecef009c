#!/bin/bash
# The program's tests. Each cases/NAME.sh is run in an empty folder with vidi first in PATH; what it prints on stdout
# and on stderr, and its exit status, must be cases/NAME.out to the byte. Speaks TAP.
#
#   run.sh [--update] [NAME]...     all cases or those named; --update writes what came out as what is expected
#
# Sets have the same keys in every run (tests/support/fixed_keys.c), so that no case can fail by chance.
# A case that cannot run here ends with `skip REASON` (see lib.sh). Needs VIDI_BUILD, the folder with the program. SIGINT
# is what it always is in a case, also if a shell has started all of this in the background, where it is ignored.
set -u

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export VIDI_SOURCE=${VIDI_SOURCE:-$(cd "$here/../.." && pwd)}
export VIDI_BUILD=${VIDI_BUILD:-$VIDI_SOURCE/build}
export PATH=$VIDI_BUILD:$PATH LC_ALL=C
unset TERM NO_COLOR
update=no
if [ "${1-}" = --update ]; then
    update=yes
    shift
fi
for program in vidi vidi-lab tests/make_state tests/libfixed_keys.so; do
    if [ ! -x "$VIDI_BUILD/$program" ]; then
        echo "Bail out! there is no $VIDI_BUILD/$program; set VIDI_BUILD to a folder that it was built in, with tests"
        exit 1
    fi
done

# In memory if there is a gigabyte of it, so that cases can sync often without cost.
above=${TMPDIR:-/tmp}
if [ "$(df --output=avail /dev/shm | tail -n 1)" -gt 1000000 ] 2> /dev/null; then
    above=/dev/shm
fi
work=$(mktemp -d -p "$above")
chmod 755 "$work" # one case runs as another user
export XDG_CACHE_HOME=$work/cache # what `vidi lab` keeps of a case that is killed is nobody else's business
trap 'rm -rf "$work"' EXIT
if ! ldd "$VIDI_BUILD/vidi" | grep -q libasan; then # which must be loaded first
    export LD_PRELOAD=$VIDI_BUILD/tests/libfixed_keys.so
fi
names=("$@")
if [ $# -eq 0 ]; then
    for file in "$here"/cases/*.sh; do
        names+=("$(basename "$file" .sh)")
    done
fi

# A file's contents under a heading; a last line without a newline is marked.
section()
{
    printf -- '--- %s\n' "$1"
    cat "$2"
    if [ -s "$2" ] && [ "$(tail -c 1 "$2" | od -An -tx1 | tr -d ' ')" != 0a ]; then
        printf '\n(no newline)\n'
    fi
}

failed=0
number=0
echo "1..${#names[@]}"
for name in "${names[@]}"; do
    number=$((number + 1))
    mkdir "$work/$number"
    (cd "$work/$number" && exec env --default-signal=INT bash -c '. "$1"; . "$2"' case "$here/lib.sh" "$here/cases/$name.sh") \
        < /dev/null > "$work/stdout" 2> "$work/stderr"
    status=$?
    if [ $status -eq 77 ]; then
        echo "ok $number - $name # SKIP $(tail -n 1 "$work/stdout")"
    else
        { section stdout "$work/stdout"; section stderr "$work/stderr"; echo "--- status $status"; } > "$work/result"
        if [ $update = yes ]; then
            cp "$work/result" "$here/cases/$name.out"
        fi
        if diff -a -u "$here/cases/$name.out" "$work/result" > "$work/diff" 2>&1; then
            echo "ok $number - $name"
        else
            echo "not ok $number - $name"
            sed 's/^/# /' "$work/diff" | head -n 60
            failed=$((failed + 1))
        fi
    fi
    rm -rf "${work:?}/$number"
done
[ $failed -eq 0 ]
