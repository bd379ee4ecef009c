#!/bin/bash
# What is installed is complete: a program finds header and library through pkg-config, and works with either library.
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

# The prefix is not the one that was configured: the pkg-config file must not mind.
root=$tmp/root
installs() {
    DESTDIR=$root cmake --install "$VIDI_BUILD" --prefix /opt/vidi
}

pkg_config() {
    PKG_CONFIG_PATH=$(dirname "$(find "$root" -name vidi.pc)") pkg-config "$@" vidi
}

same_version() {
    [ "$("$root/opt/vidi/bin/vidi" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+')" = "$(pkg_config --modversion)" ]
}

# shellcheck disable=SC2046
runs_shared() {
    gcc "$tmp/program.c" $(pkg_config --cflags --libs) -o "$tmp/shared" &&
        LD_LIBRARY_PATH=$(pkg_config --variable=libdir) "$tmp/shared"
}

# shellcheck disable=SC2046
runs_static() {
    gcc "$tmp/program.c" $(pkg_config --cflags --static --libs | sed 's/-lvidi/-l:libvidi.a/') -o "$tmp/static" &&
        "$tmp/static"
}

check "installs" installs
check "header" test -f "$root/opt/vidi/include/vidi/vidi.h"
check "program and pkg-config agree on the version" same_version
check "list of tracking parameters" cmp "$VIDI_SOURCE/data/tracking.txt" "$root/opt/vidi/share/vidi/tracking.txt"
check "completion for bash" cmp "$VIDI_SOURCE/completions/vidi.bash" \
    "$root/opt/vidi/share/bash-completion/completions/vidi"
check "completion for zsh" cmp "$VIDI_SOURCE/completions/_vidi" "$root/opt/vidi/share/zsh/site-functions/_vidi"
check "completion for fish" cmp "$VIDI_SOURCE/completions/vidi.fish" \
    "$root/opt/vidi/share/fish/vendor_completions.d/vidi.fish"
check "licence" test -f "$(find "$root" -name LICENSE)"
check "a program with the shared library" runs_shared
check "a program with the static library" runs_static
finish
