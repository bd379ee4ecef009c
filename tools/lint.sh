#!/bin/bash
# tools/lint.sh [--built]: layout of all C files, warnings, clang-tidy, cppcheck, shellcheck; each is a line of TAP.
# tools/lint.sh analyze:   clang's analyzer, which takes twenty times as long as all other checks together.
# tools/lint.sh format:    mends the layout.
#
# Warnings are found by a build of its own in which they are errors. With --built there is one already, in build/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

mapfile -t files < <(find include lib cli lab tests fuzz bench examples -name '*.[ch]' 2>/dev/null | sort)
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep -E '^(lib|cli|lab)/.*\.c$')
mapfile -t scripts < <(grep -rlE '^#!.*/(ba)?sh' .ci tools tests)

number=0
status=0
# step NAME COMMAND...: a line of TAP; what a command that failed has printed follows as comments.
step() {
    local name=$1 output
    shift
    number=$((number + 1))
    if output=$("$@" 2>&1 </dev/null); then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        sed 's/^/# /' <<<"$output"
        status=1
    fi
}

# tidy FOLDER [CHECKS]: its compile commands say how each file is compiled.
# shellcheck disable=SC2317 # step calls it
tidy() {
    local checks=()
    [ $# -lt 2 ] || checks=("--checks=$2")
    printf '%s\0' "${sources[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy --quiet "${checks[@]}" -p "$1" 2>/dev/null
}

# shellcheck disable=SC2317
warnings() {
    cmake --preset dev && cmake --build --preset dev
}

# Both suppressed checks take a pointer that is passed to a function for one that is kept or read.
# shellcheck disable=SC2317
check_with_cppcheck() {
    cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,performance,portability \
        --suppress=missingIncludeSystem --suppress=returnDanglingLifetime --suppress=ctuuninitvar \
        -I . -I include -I lib -D_GNU_SOURCE -DVIDI_HAVE_XXHASH=1 -DVIDI_HAVE_CRYPTO=1 -DVIDI_HAVE_ICU=1 \
        -DVIDI_HAVE_PSL=1 lib cli lab
}

# Left out: what objects to a sum over a double and to snprintf, and what clang itself gets wrong (va_list).
analyzer='-*,clang-analyzer-*,-clang-analyzer-security.FloatLoopCounter,-clang-analyzer-valist.Uninitialized,'
analyzer+='-clang-analyzer-security.insecureAPI.DeprecatedOrUnsafeBufferHandling'

build=build/dev
case ${1-} in
format)
    exec clang-format -i "${files[@]}"
    ;;
analyze)
    cmake --preset dev >/dev/null || exit 1
    step "the analyzer finds nothing" tidy $build "$analyzer"
    echo "1..$number"
    exit $status
    ;;
--built) build=build ;;
*) step "there are no warnings" warnings ;;
esac
step "the layout is that of .clang-format" clang-format --dry-run --Werror "${files[@]}"
step "clang-tidy finds nothing" tidy $build
step "cppcheck finds nothing" check_with_cppcheck
step "shellcheck finds nothing" shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR "${scripts[@]}"
echo "1..$number"
exit $status
