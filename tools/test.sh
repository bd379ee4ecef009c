#!/bin/bash
# tools/test.sh [long|ci]: builds and runs the tests. All run in the release build, the unit tests also under the address
# and undefined behaviour sanitizers, and tests with threads under the thread sanitizer. The last line is
# "N passed, N failed, N skipped".
#
# CMakePresets.json says which tests each run includes, and with how many URLs. Slow tests do not fail: the limit of an
# hour only makes sure that a test that hangs is reported. Warnings of the compiler are errors. With `ci`, the checks of
# lint.sh run as well; nothing else differs. VIDI_TESTDATA names the folder with public test data; without it, a folder
# `shared` beside the repository is used.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

if [ ! "${VIDI_TESTDATA-}" ] && [ -d ../shared ]; then
    VIDI_TESTDATA=$(cd ../shared && pwd)
    export VIDI_TESTDATA
fi

# build CONFIGURE-PRESET BUILD-PRESET: prints nothing unless it fails.
build() {
    local log
    log=$(cmake --preset "$1" -DVIDI_TESTS=ON -DVIDI_WERROR=ON 2>&1 && cmake --build --preset "$2" 2>&1) && return
    echo "$log" >&2
    return 1
}

# run CONFIGURE-PRESET TEST-PRESET [PREFIX...]: `test` and `long` share the release build. One test more than there are
# processors runs at a time, because many tests wait for the disk.
run() {
    local configure=$1 preset=$2
    shift 2
    echo "== $preset"
    build "$configure" "${configure/release/test}" && "$@" ctest --preset "$preset" -V -j "$(($(nproc) + 1))" 2>&1
    echo "== $preset ended $?"
}

# The thread sanitizer of older compilers does not start if address space randomization uses too wide a range.
still=()
setarch --addr-no-randomize true 2>/dev/null && still=(setarch --addr-no-randomize)

{
    if [ "${1-}" = long ]; then
        export VIDI_TEST_CORRUPT=1000000 # damaged payloads for the Redis module, under the sanitizers
        run release long
    else
        run release test
    fi
    if [ "${1-}" = ci ]; then
        echo "== lint"
        tools/lint.sh --built
        echo "== lint ended $?"
    fi
    run asan asan
    run tsan tsan "${still[@]}"
} </dev/null | awk -f tools/tap.awk
