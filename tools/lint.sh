#!/bin/bash
# tools/lint.sh [--built]: checks formatting, compiler warnings, clang-tidy, cppcheck, pyflakes, mypy and shellcheck. It
#                          prints TAP.
# tools/lint.sh analyze:   runs clang's analyzer, which takes twenty times as long as all other checks together.
# tools/lint.sh format:    formats all C files.
#
# To find warnings, it makes a separate build in which they are errors. With --built, such a build exists in build/.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

mapfile -t files < <(find include lib common fleet cli lab crawler redis python tests fuzz bench examples -name '*.[ch]' | sort)
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep -E '^(lib|common|fleet|cli|lab|crawler|redis|python)/.*\.c$')
mapfile -t modules < <(find python bench/python examples -name '*.py' 2>/dev/null | sort)
mapfile -t scripts < <(grep -rlE '^#!.*/(ba)?sh' .ci tools tests bench)

number=0
status=0
# step NAME COMMAND...: runs a check and prints a line of TAP. If it fails, its output follows as comments.
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

# tidy FOLDER [CHECKS]: runs clang-tidy with the compile commands in FOLDER, which has none for stand-ins of parts that
# were built.
# shellcheck disable=SC2317 # step calls it
tidy() {
    local checks=()
    [ $# -lt 2 ] || checks=("--checks=$2")
    printf '%s\n' "${sources[@]}" |
        grep -Fxf <(sed -n "s|^ *\"file\": \"$PWD/\(.*\)\".*|\1|p" "$1/compile_commands.json") | tr '\n' '\0' |
        xargs -0 -n 16 -P "$(nproc)" clang-tidy --quiet "${checks[@]}" -p "$1" 2>/dev/null
}

# shellcheck disable=SC2317
warnings() {
    cmake --preset dev && cmake --build --preset dev
}

# The suppressed checks assume that a pointer passed to a function is kept or read, which is wrong here. The macros are
# those of sys/queue.h, which it does not read.
# shellcheck disable=SC2317
check_with_cppcheck() {
    cppcheck --quiet -j "$(nproc)" --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,performance,portability \
        --library=python --suppress=missingIncludeSystem --suppress=returnDanglingLifetime --suppress=ctuuninitvar \
        -I . -I include -I lib -D_GNU_SOURCE -DVIDI_HAVE_XXHASH=1 -DVIDI_HAVE_CRYPTO=1 -DVIDI_HAVE_ICU=1 \
        -DVIDI_HAVE_PSL=1 -DVIDI_HAVE_ZLIB=1 '-DLIST_HEAD(name,type)=struct type *' \
        '-DTAILQ_HEAD(name,type)=struct type *' lib common fleet cli lab crawler redis python
}

# Debian's programs: those in PATH may belong to another Python. Lines are as long as in C. Tests are left out: pyflakes
# does not know the fixtures of pytest.
# shellcheck disable=SC2317
check_python() {
    ! grep -nE '^.{121,}' "${modules[@]}" && /usr/bin/python3 -B -m pyflakes "${modules[@]}" &&
        /usr/bin/python3 -B -m mypy --strict --ignore-missing-imports --cache-dir=/dev/null --no-error-summary python/vidi
}

# Left out: checks that reject loops over a double and snprintf, and one that is wrong about va_list.
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
step "pyflakes and mypy find nothing" check_python
step "shellcheck finds nothing" shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR "${scripts[@]}"
echo "1..$number"
exit $status
