#!/bin/bash
# The examples in the README and in docs/CRAWLER.md work. Every C block with a main() is compiled against the build and run, and every shell
# block after a line <!-- test --> is run. Each runs in an empty folder with the build first in PATH.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

readme=$VIDI_SOURCE/README.md
crawler=$VIDI_SOURCE/docs/CRAWLER.md
if [ ! -f "$readme" ]; then
    echo "1..0 # SKIP no README yet"
    exit 0
fi

# Writes each block to a file NAME-LINE.c, or NAME-LINE.sh for shell blocks. LINE is the line where the block starts.
mkdir "$tmp/blocks"
awk -v dir="$tmp/blocks" '
    FNR == 1 { name = FILENAME; gsub(/^.*\/|\.md$/, "", name) }
    /^```/ && file { close(file); file = ""; next }
    /^```c$/ { file = dir "/" name "-" FNR ".c"; next }
    /^```(sh|bash|console)$/ && marked { file = dir "/" name "-" FNR ".sh"; marked = 0; next }
    /^```/ { file = "/dev/null"; marked = 0; next }
    file { print > file; next }
    /^<!-- test -->$/ { marked = 1; next }
    NF { marked = 0 }
' "$readme" "$crawler"

run_c() {
    local libs
    libs=$(PKG_CONFIG_PATH=$VIDI_BUILD pkg-config --static --libs-only-l vidi)
    # shellcheck disable=SC2086
    gcc -std=gnu11 -Wall -Wextra -Werror -I "$VIDI_SOURCE/include" "$1" "$VIDI_BUILD/libvidi.a" ${libs/-lvidi/} \
        -o "$tmp/here/example" && cd "$tmp/here" && ./example
}

# The C blocks must also compile as C++.
compile_cpp() {
    g++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -I "$VIDI_SOURCE/include" -x c++ -fsyntax-only "$1"
}

run_sh() {
    cd "$tmp/here" && PATH=$VIDI_BUILD:$PATH bash -euo pipefail "$1"
}

for block in $(find "$tmp/blocks" -type f | sort -V); do
    line=$(basename "${block%.*}")
    rm -rf "$tmp/here"
    mkdir "$tmp/here"
    case $block in
    *.sh) check "shell block at $line" run_sh "$block" ;;
    *.c)
        if grep -q 'main(' "$block"; then
            check "C block at $line" run_c "$block"
            if command -v g++ >/dev/null; then
                check "C block at $line as C++" compile_cpp "$block"
            else
                skip "C block at $line as C++" "no g++ here"
            fi
        fi
        ;;
    esac
done
if [ "$tap_count" = 0 ]; then
    skip "blocks of the README" "none to test"
fi
finish
