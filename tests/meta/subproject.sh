#!/bin/bash
# Other CMake projects can contain vidi, with add_subdirectory or FetchContent, and vidi builds and works without its
# optional libraries. One build shows all of it: both ways use the same build folder, so everything is compiled once.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"
vidi=$tmp/build/_deps/vidi-build

cat >"$tmp/program.c" <<'CODE'
#include <vidi/vidi.h>

int main(void)
{
    vidi_set *set;
    vidi_str url = {"http://example.com/", 19};
    if (vidi_create(&set, 0) != VIDI_OK)
        return 1;
    int first = vidi_add(set, url), second = vidi_add(set, url);
    vidi_close(set);
    return first != VIDI_NEW || second != VIDI_SEEN;
}
CODE
cat >"$tmp/CMakeLists.txt" <<CODE
cmake_minimum_required(VERSION 3.25)
project(user C)
if(HOW STREQUAL subdirectory)
    add_subdirectory("$VIDI_SOURCE" _deps/vidi-build)
else()
    include(FetchContent)
    FetchContent_Declare(vidi URL https://vidi.invalid/vidi.tar.gz)
    FetchContent_MakeAvailable(vidi)
endif()
add_executable(shared program.c)
target_link_libraries(shared PRIVATE vidi::vidi)
add_executable(static program.c)
target_link_libraries(static PRIVATE vidi::vidi_static)
install(TARGETS shared)
CODE

# configure HOW [OPTION]...: FETCHCONTENT_SOURCE_DIR_VIDI replaces the download.
configure() {
    cmake -S "$tmp" -B "$tmp/build" -G Ninja -DCMAKE_C_FLAGS=-O0 "-DFETCHCONTENT_SOURCE_DIR_VIDI=$VIDI_SOURCE" "-DHOW=$1" \
        "${@:2}"
}

is_the_library_alone() {
    configure subdirectory && ninja -C "$tmp/build" -t targets all >"$tmp/targets" &&
        grep '^_deps/vidi-build/libvidi.so:' "$tmp/targets" && ! grep -E '^(_deps/vidi-build/)?(vidi|vidi-lab|tests|benchmarks):' "$tmp/targets"
}

without_options() {
    local name off=()
    for name in XXHASH CRYPTO ICU PSL ZLIB ZSTD LZMA BZIP2 CRAWL REDIS FLEET; do
        off+=("-DVIDI_WITH_$name=OFF")
    done
    configure subdirectory -DVIDI_PROGRAMS=ON -DVIDI_WERROR=ON "${off[@]}" "-DVIDI_PYTHON=$tmp/python" >"$tmp/configured"
}

# Of the lab, only this file depends on an option; the rest takes a third of the time, so only the long tests build it.
builds() {
    local lab=vidi-lab
    [ "${VIDI_TEST_LONG-}" ] || lab=_deps/vidi-build/lab/CMakeFiles/vidi_lab.dir/eigen/eigen_database.c.o
    cmake --build "$tmp/build" --target shared static vidi "$lab"
}

runs() {
    "$tmp/build/shared" && "$tmp/build/static"
}

with_fetch() {
    configure fetch && builds && runs
}

installs_its_own() {
    DESTDIR=$tmp/root cmake --install "$tmp/build" --prefix /opt &&
        [ "$(cd "$tmp/root" && find . -type f)" = ./opt/bin/shared ]
}

links_no() {
    ! ldd "$vidi/vidi" "$vidi/libvidi.so" | grep -E "$1"
}

answers() {
    [ "$(printf 'http://example.com/\nhttp://example.com/\n' | "$vidi/vidi")" = http://example.com/ ]
}

# names FORMAT: succeeds if a packed file is not read as text, and the message says what to do.
names() {
    echo http://example.com/ | "$1" >"$tmp/packed" || return 1
    "$vidi/vidi" "$tmp/packed" >"$tmp/output" 2>&1
    [ $? -eq 2 ] && cat "$tmp/output" && grep -q "it is packed with $1, .* use '$1 -dc'" "$tmp/output"
}

# A page whose encoding needs ICU: the query's bytes come through, and a warning says what is missing.
reads_links() {
    printf '<meta charset=shift_jis><a href="x?\x93\xfa">' |
        "$vidi/vidi" links --base http://example.com/ >"$tmp/output" 2>"$tmp/warning"
    cat "$tmp/output" "$tmp/warning"
    [ "$(cat "$tmp/output")" = 'http://example.com/x?%93%FA' ] && grep -q 'cannot read Shift_JIS' "$tmp/warning"
}

# There is no crawler, and the program says so.
lacks_the_crawler() {
    "$vidi/vidi" crawl http://example.com/ 2>&1 | grep -q 'built without the crawler' &&
        ! "$vidi/vidi" --help | grep -q '^  crawl '
}

# A Python without headers: there is no package, and a build of it says why.
lacks_python() {
    grep 'No Python package: there is no .*/Python.h' "$tmp/configured" &&
        ! cmake --build "$tmp/build" --target vidi_python_wheel >"$tmp/output" 2>&1 &&
        grep 'cannot be built: there is no .*/Python.h' "$tmp/output"
}

# A library that is not installed is left out with a notice, unless the option is ON. pkg-config finds nothing here.
says_what_it_lacks() {
    PKG_CONFIG_LIBDIR=$tmp cmake -S "$VIDI_SOURCE" -B "$tmp/bare" -G Ninja >"$tmp/output" &&
        grep 'Without the hash function xxh3: libxxhash not found' "$tmp/output" &&
        ! PKG_CONFIG_LIBDIR=$tmp cmake -S "$VIDI_SOURCE" -B "$tmp/bare" -DVIDI_WITH_XXHASH=ON >"$tmp/output" 2>&1 &&
        grep 'VIDI_WITH_XXHASH is ON, but libxxhash was not found' "$tmp/output"
}

printf '#!/bin/sh\necho "/nowhere;linux-x86_64"\n' >"$tmp/python"
chmod +x "$tmp/python"
check "a project that contains vidi gets the library alone" is_the_library_alone
check "configures with all options off" without_options
check "builds without a warning, with add_subdirectory" builds
check "programs linked with either library run" runs
check "the same with FetchContent" with_fetch
check "the project installs only what is its own" installs_its_own
check "needs none of the libraries" links_no 'xxhash|crypto|icu|psl|libz\.|zstd|lzma|bz2|curl|sqlite|deflate'
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
check "a library that is not installed is left out, or an error if it was asked for" says_what_it_lacks
finish
