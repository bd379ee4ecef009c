#!/bin/bash
# Other CMake projects can contain vidi: with add_subdirectory, and with FetchContent. They then get the library alone,
# under the names that find_package provides.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

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

# Both ways use the same build folder, so the library is compiled once. `tests` and `vidi` are names of the project's own.
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
add_custom_target(tests)
add_custom_target(vidi)
install(TARGETS shared)
CODE

# works HOW: configures, builds and runs. FETCHCONTENT_SOURCE_DIR_VIDI replaces the download.
works() {
    cmake -S "$tmp" -B "$tmp/build" -G Ninja -DCMAKE_C_FLAGS=-O0 "-DHOW=$1" \
        "-DFETCHCONTENT_SOURCE_DIR_VIDI=$VIDI_SOURCE" && cmake --build "$tmp/build" && "$tmp/build/shared" &&
        "$tmp/build/static"
}

installs_its_own() {
    DESTDIR=$tmp/root cmake --install "$tmp/build" --prefix /opt &&
        [ "$(cd "$tmp/root" && find . -type f)" = ./opt/bin/shared ]
}

check "add_subdirectory" works subdirectory
check "the project installs only what is its own" installs_its_own
check "FetchContent" works fetch
finish
