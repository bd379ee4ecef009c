#!/bin/bash
# The library builds and works without its optional dependencies.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

configure() {
    cmake -S "$VIDI_SOURCE" -B "$tmp/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DVIDI_WERROR=ON \
        -DVIDI_WITH_XXHASH=OFF -DVIDI_WITH_CRYPTO=OFF -DVIDI_WITH_ICU=OFF -DVIDI_WITH_PSL=OFF \
        -DVIDI_WITH_ZLIB=OFF -DVIDI_WITH_ZSTD=OFF
}

links_no() {
    ! ldd "$tmp/build/vidi" "$tmp/build/libvidi.so" | grep -E "$1"
}

answers() {
    [ "$(printf 'http://example.com/\nhttp://example.com/\n' | "$tmp/build/vidi")" = http://example.com/ ]
}

check "configures" configure
check "builds without a warning" cmake --build "$tmp/build"
check "needs none of the libraries" links_no 'xxhash|crypto|icu|psl|libz\.|zstd'
check "answers" answers
finish
