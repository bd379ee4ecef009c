#!/bin/bash
# tools/arm64.sh: builds the library for arm64 and runs the unit tests of its kernels under qemu. Part of
# `make test-long`; `make test-arm64` runs it alone. On an arm64 machine `make test` does all that and more.
#
# cmocka and libxxhash for arm64 are downloaded into the build folder, with package lists of its own, so nothing foreign
# is installed. The other optional libraries are left out. If something cannot be had, the one test is skipped, with the
# reason. Prints TAP.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$PWD/build/arm64
sysroot=$build/sysroot
log=$build/log
mkdir -p "$build"

skip() {
    echo "1..1"
    echo "ok 1 - arm64 # SKIP $1"
    exit 0
}

# The folders of apt's that the download uses instead of the system's.
apt() {
    local own=$build/apt
    mkdir -p "$own/state/lists/partial" "$own/cache/archives/partial"
    touch "$own/state/status"
    apt-get -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$own/state" \
        -o Dir::State::status="$own/state/status" -o Dir::Cache="$own/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

fetch_libraries() {
    [ ! -e "$sysroot/complete" ] || return 0
    mkdir -p "$build/packages" "$sysroot"
    apt update && (cd "$build/packages" && apt download libcmocka-dev libcmocka0 libxxhash-dev libxxhash0) || return 1
    for package in "$build"/packages/*.deb; do
        dpkg-deb -x "$package" "$sysroot" || return 1
    done
    touch "$sysroot/complete"
}

configure() {
    PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig PKG_CONFIG_SYSROOT_DIR=$sysroot \
        cmake -S . -B "$build" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/arm64.cmake" -DCMAKE_BUILD_TYPE=Release \
        -DVIDI_TESTS=ON -DVIDI_WERROR=ON -DVIDI_WITH_CRYPTO=OFF -DVIDI_WITH_ICU=OFF \
        -DVIDI_WITH_PSL=OFF -DVIDI_WITH_ZLIB=OFF -DVIDI_WITH_ZSTD=OFF -DVIDI_WITH_LZMA=OFF -DVIDI_WITH_BZIP2=OFF \
        -DVIDI_WITH_BROTLI=OFF -DVIDI_WITH_CRAWL=OFF -DCMAKE_EXE_LINKER_FLAGS="-L$sysroot/usr/lib/aarch64-linux-gnu"
}

# The tests that compare kernels, and some that use them; TEST:PATTERN takes only some cases, because qemu is slow.
tests=(cpu/cpu hash/hash hash/batch hash/positions url/is_canonical url/percent filters/fingerprint/line
    filters/fingerprint/kernel
    'filters/fingerprint/fingerprint:*every*' 'filters/blocked/blocked:*every*' set/serial/golden set/no_false_negative)

for program in aarch64-linux-gnu-gcc qemu-aarch64 apt-get dpkg-deb; do
    command -v "$program" >/dev/null || skip "$program is not installed"
done
fetch_libraries >"$log" 2>&1 || skip "libraries for arm64 cannot be downloaded: $(tail -n 1 "$log")"

targets=()
for each in "${tests[@]}"; do
    name=${each%%:*}
    targets+=("test_${name//\//_}")
done
echo "1..$((${#tests[@]} + 1))"
if ! { configure && cmake --build "$build" --target "${targets[@]}"; } >"$log" 2>&1; then
    echo "not ok 1 - builds for arm64"
    grep -E 'error|Error|FAILED' -A 5 "$log" | head -n 40 | sed 's/^/# /'
    exit 1
fi
echo "ok 1 - builds for arm64"

failed=0 number=1
for each in "${tests[@]}"; do
    name=${each%%:*} cases=${each#"${each%%:*}"} number=$((number + 1))
    if VIDI_TEST_URLS=2000 VIDI_TEST_LONG='' VIDI_TESTDATA='' VIDI_SOURCE=$PWD VIDI_BUILD=$build timeout 1800 \
        qemu-aarch64 -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH="$sysroot/usr/lib/aarch64-linux-gnu" \
        "$build/tests/test_${name//\//_}" ${cases:+"${cases#:}"} >"$log" 2>&1; then
        echo "ok $number - $name"
    else
        failed=1
        echo "not ok $number - $name"
        tail -n 40 "$log" | sed 's/^/# /'
    fi
done
exit $failed
