#!/bin/bash
# The library builds and works without its optional dependencies.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

configure() {
    cmake -S "$VIDI_SOURCE" -B "$tmp/build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DVIDI_WERROR=ON \
        -DVIDI_WITH_XXHASH=OFF -DVIDI_WITH_CRYPTO=OFF -DVIDI_WITH_ICU=OFF -DVIDI_WITH_PSL=OFF \
        -DVIDI_WITH_ZLIB=OFF -DVIDI_WITH_ZSTD=OFF \
        -DVIDI_WITH_LZMA=OFF -DVIDI_WITH_BZIP2=OFF -DVIDI_WITH_CRAWL=OFF -DVIDI_WITH_REDIS=OFF \
        -DVIDI_PYTHON="$tmp/python" >"$tmp/configured"
}

links_no() {
    ! ldd "$tmp/build/vidi" "$tmp/build/libvidi.so" | grep -E "$1"
}

answers() {
    [ "$(printf 'http://example.com/\nhttp://example.com/\n' | "$tmp/build/vidi")" = http://example.com/ ]
}

printf '#!/bin/sh\necho "/nowhere;linux-x86_64"\n' >"$tmp/python"
chmod +x "$tmp/python"
check "configures" configure
check "builds without a warning" cmake --build "$tmp/build"
check "needs none of the libraries" links_no 'xxhash|crypto|icu|psl|libz\.|zstd|lzma|bz2|curl|sqlite|deflate'
# names FORMAT: succeeds if a packed file is not read as text, and the message says what to do.
names() {
    echo http://example.com/ | "$1" >"$tmp/packed" || return 1
    "$tmp/build/vidi" "$tmp/packed" >"$tmp/output" 2>&1
    [ $? -eq 2 ] && cat "$tmp/output" && grep -q "it is packed with $1, .* use '$1 -dc'" "$tmp/output"
}

# A page whose encoding needs ICU: the query's bytes come through, and a warning says what is missing.
reads_links() {
    printf '<meta charset=shift_jis><a href="x?\x93\xfa">' |
        "$tmp/build/vidi" links --base http://example.com/ >"$tmp/output" 2>"$tmp/warning"
    cat "$tmp/output" "$tmp/warning"
    [ "$(cat "$tmp/output")" = 'http://example.com/x?%93%FA' ] && grep -q 'cannot read Shift_JIS' "$tmp/warning"
}

# There is no crawler, and the program says so.
lacks_the_crawler() {
    "$tmp/build/vidi" crawl http://example.com/ 2>&1 | grep -q 'built without the crawler' &&
        ! "$tmp/build/vidi" --help | grep -q '^  crawl '
}

# A Python without headers: there is no package, and whoever asks for one is told why.
lacks_python() {
    grep 'No Python package: there is no .*/Python.h' "$tmp/configured" &&
        ! cmake --build "$tmp/build" --target vidi_python_wheel >"$tmp/output" 2>&1 &&
        grep 'cannot be built: there is no .*/Python.h' "$tmp/output"
}

check "answers" answers
check "goes on without Python's headers and says so" lacks_python
check "lacks the crawler and says so" lacks_the_crawler
check "reads links" reads_links
for format in gzip zstd xz bzip2; do
    if command -v $format >/dev/null; then
        check "names $format" names $format
    else
        skip "names $format" "there is no $format"
    fi
done
finish
