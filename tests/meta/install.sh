#!/bin/bash
# The installation is complete: a program finds header and library through pkg-config, and works with either library.
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

cat >"$tmp/cluster.c" <<'CODE'
#include <stdio.h>
#include <string.h>
#include <vidi/cluster.h>

/* A name of its own that the library uses inside. */
int redis_open(void);
int redis_open(void)
{
    return 1;
}

int main(void)
{
    vidi_cluster *set;
    int error = vidi_cluster_open(&set, "redis://127.0.0.1:1/x", NULL);
    puts(vidi_cluster_message());
    return !redis_open() || error != VIDI_EIO || !strstr(vidi_cluster_message(), "127.0.0.1:1");
}
CODE

# The prefix differs from the configured one, and the pkg-config file must still be correct.
root=$tmp/root
installs() {
    DESTDIR=$root cmake --install "$VIDI_BUILD" --prefix /opt/vidi
}

# pkg_config OPTION...: about the library `package`.
package=vidi
pkg_config() {
    PKG_CONFIG_PATH=$(dirname "$(find "$root" -name vidi.pc)") pkg-config "$@" "$package"
}

same_version() {
    [ "$("$root/opt/vidi/bin/vidi" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')" = "$(pkg_config --modversion)" ]
}

# runs_shared PROGRAM, runs_static PROGRAM
# shellcheck disable=SC2046
runs_shared() {
    gcc "$tmp/$1.c" $(pkg_config --cflags --libs) -o "$tmp/shared" &&
        LD_LIBRARY_PATH=$(pkg_config --variable=libdir) "$tmp/shared"
}

# shellcheck disable=SC2046
runs_static() {
    gcc "$tmp/$1.c" $(pkg_config --cflags --static --libs | sed -E 's/-l(vidi[a-z-]*)/-l:lib\1.a/g') -o "$tmp/static" &&
        "$tmp/static"
}

# cmake_runs TARGET PROGRAM: succeeds if find_package provides TARGET and a program linked with it runs.
cmake_runs() {
    local here=$tmp/with_${1##*:}
    mkdir -p "$here" && cp "$tmp/$2.c" "$here/program.c" && cat >"$here/CMakeLists.txt" <<CODE
cmake_minimum_required(VERSION 3.25)
project(user C)
find_package(vidi 0.1 REQUIRED)
add_executable(user program.c)
target_link_libraries(user PRIVATE $1)
CODE
    cmake -S "$here" -B "$here/build" -DCMAKE_PREFIX_PATH="$root/opt/vidi" && cmake --build "$here/build" &&
        "$here/build/user"
}

# Each example is compiled with pkg-config, as users would do it, and run on three lines.
# shellcheck disable=SC2046
examples_run() {
    local source count=0
    for source in "$root"/opt/vidi/share/doc/vidi/examples/*.c; do
        gcc "$source" $(pkg_config --cflags --libs) -o "$tmp/example" || return 1
        printf 'http://a.example/\nhttp://b.example/\nhttp://a.example/\n' |
            LD_LIBRARY_PATH=$(pkg_config --variable=libdir) "$tmp/example" >"$tmp/out" || return 1
        count=$((count + 1))
    done
    [ "$count" -gt 0 ] && [ -s "$tmp/out" ]
}

says_how_to_find_it() {
    "$VIDI_SOURCE/tools/after_install.sh" "" "$root/opt/vidi" | grep -F "LD_LIBRARY_PATH=$root/opt/vidi/lib"
}

check "installs" installs
for name in vidi url transfer; do
    check "$name.h" test -f "$root/opt/vidi/include/vidi/$name.h"
done
check "program and pkg-config agree on the version" same_version
check "the program finds vidi-lab" "$root/opt/vidi/bin/vidi" lab list
check "list of tracking parameters" cmp "$VIDI_SOURCE/data/tracking.txt" "$root/opt/vidi/share/vidi/tracking.txt"
check "module for Redis" cmp "$VIDI_BUILD/redisvidi.so" "$root/opt/vidi/lib/vidi/redisvidi.so"
check "completion for bash" cmp "$VIDI_SOURCE/completions/vidi.bash" \
    "$root/opt/vidi/share/bash-completion/completions/vidi"
check "completion for zsh" cmp "$VIDI_SOURCE/completions/_vidi" "$root/opt/vidi/share/zsh/site-functions/_vidi"
check "completion for fish" cmp "$VIDI_SOURCE/completions/vidi.fish" \
    "$root/opt/vidi/share/fish/vendor_completions.d/vidi.fish"
check "licence" test -f "$(find "$root" -name LICENSE)"
check "documentation" test -f "$root/opt/vidi/share/doc/vidi/docs/KINDS.md"
check "the readme" cmp "$VIDI_SOURCE/README.md" "$root/opt/vidi/share/doc/vidi/README.md"
check "a program with the shared library" runs_shared program
check "find_package and the shared library" cmake_runs vidi::vidi program
check "find_package and the static library" cmake_runs vidi::vidi_static program
check "the examples run as their users compile them" examples_run
check "the installation says how to find a library where the linker does not look" says_how_to_find_it
check "a program with the static library" runs_static program
package=vidi-cluster
check "cluster.h" test -f "$root/opt/vidi/include/vidi/cluster.h"
check "a program with the shared libraries for clusters" runs_shared cluster
check "a program with the static libraries for clusters" runs_static cluster
check "find_package and the shared libraries for clusters" cmake_runs vidi::vidi_cluster cluster
check "find_package and the static libraries for clusters" cmake_runs vidi::vidi_cluster_static cluster
finish
