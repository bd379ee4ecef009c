#!/bin/bash
# tools/lint.sh: layout of all C files, warnings, clang-tidy, cppcheck, shellcheck. With `format` it mends the layout.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

mapfile -t files < <(find include lib cli lab tests fuzz bench examples -name '*.[ch]' 2>/dev/null | sort)
if [ "${1-}" = format ]; then
    exec clang-format -i "${files[@]}"
fi

status=0
check() {
    echo "== $1"
    "$@" || status=1
}

check clang-format --dry-run --Werror "${files[@]}"

cmake --preset dev >/dev/null || exit 1
check cmake --build --preset dev

mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep -E '^(lib|cli|lab)/.*\.c$')
# shellcheck disable=SC2317 # check calls it
tidy() {
    printf '%s\0' "${sources[@]}" | xargs -0 -n 4 -P "$(nproc)" clang-tidy --quiet -p build/dev 2>/dev/null
}
check tidy

# Both suppressed checks take a pointer that is passed to a function for one that is kept or read.
check cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,performance,portability \
    --suppress=missingIncludeSystem --suppress=returnDanglingLifetime --suppress=ctuuninitvar \
    -I . -I include -I lib -D_GNU_SOURCE -DVIDI_HAVE_XXHASH=1 -DVIDI_HAVE_CRYPTO=1 -DVIDI_HAVE_ICU=1 -DVIDI_HAVE_PSL=1 \
    lib cli lab

mapfile -t scripts < <(grep -rlE '^#!.*/(ba)?sh' .ci tools tests)
check shellcheck --severity=warning --external-sources --source-path=SCRIPTDIR "${scripts[@]}"
exit $status
