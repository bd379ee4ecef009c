#!/bin/bash
# The examples in the README and in docs/CRAWLER.md work. Every C block with a main() is compiled against the build and run, and every shell
# block after a line <!-- test --> is run. Each runs in an empty folder with the build first in PATH. In blocks after a
# line <!-- test with a site -->, a small site of our own stands for https://example.org/.
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
    /^```(sh|bash|console)$/ && marked { file = dir "/" name "-" FNR marked ".sh"; marked = ""; next }
    /^```/ { file = "/dev/null"; marked = ""; next }
    file { print > file; next }
    /^<!-- test -->$/ { marked = "-alone"; next }
    /^<!-- test with a site -->$/ { marked = "-site"; next }
    NF { marked = "" }
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

# A vidi that finds https://example.org/ on this machine, in a folder with two pages, and need not wait for it.
make_site() {
    mkdir -p "$tmp/site" "$tmp/bin"
    printf '<a href=a.html>a</a> <a href=missing.html>b</a>' >"$tmp/site/index.html"
    printf '<a href=/>home</a>' >"$tmp/site/a.html"
    cat >"$tmp/bin/vidi" <<'CODE'
#!/bin/bash
case ${1-}:${2-} in
crawl:report | crawl:changes | crawl:cdxj | crawl:check | crawl:wacz | crawl:extract) ;;
crawl:*) set -- "$@" --allow-net loopback --delay 0 ;;
esac
exec "$VIDI_BUILD/vidi" "${@/#https:\/\/example.org\//$SITE}"
CODE
    chmod +x "$tmp/bin/vidi"
}

# The site has a broken link, which is what --check exits with 1 for.
run_with_site() {
    make_site
    rm -f "$tmp/until" "$tmp/address"
    mkfifo "$tmp/until"
    "$VIDI_BUILD/tests/site_server" --folder "$tmp/site" <"$tmp/until" >"$tmp/address" &
    exec 8>"$tmp/until"
    until [ -s "$tmp/address" ]; do sleep 0.05; done
    SITE=$(head -n 1 "$tmp/address")
    export SITE VIDI_BUILD
    cd "$tmp/here" && PATH=$tmp/bin:$VIDI_BUILD:$PATH bash -uo pipefail "$1"
    local status=$?
    exec 8>&-
    wait
    [ $status -le 1 ] && [ -s site/crawl.db ] && { [ -s index.cdxj ] || [ -e changes.jsonl ] || [ -s mirror/.vidi-mirror ]; }
}

for block in $(find "$tmp/blocks" -type f | sort -V); do
    line=$(basename "${block%.*}")
    rm -rf "$tmp/here"
    mkdir "$tmp/here"
    case $block in
    *-site.sh)
        if [ -x "$VIDI_BUILD/tests/site_server" ]; then
            check "shell block at $line" run_with_site "$block"
        else
            skip "shell block at $line" "the site server is not built"
        fi
        ;;
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
