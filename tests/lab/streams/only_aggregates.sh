#!/bin/bash
# No host of the corpus is in what the lab publishes: in docs/LAB.md, docs/lab, or a report, CSV, JSON and raw counts
# made with the corpus as streams. The corpus is for measuring only; the lab publishes aggregates.
#
# A host is what stands between "//" and the next '/', '?' or '#' of a line, without user and port. It is found if a
# page has it as a whole word in any case, also in the data that a report carries percent-encoded. Words are letters,
# digits, '-', '_' and bytes beyond ASCII with dots between them. Not looked for are
#   - hosts without a dot, and numbers with fewer than three: they are words and figures, too;
#   - names that are reserved for examples (RFC 2606), which the lab's synthetic URLs and the documentation use;
#   - the names in `ours`, each for its reason.
# shellcheck source=../../meta/tap.bash
. "$(dirname "$0")/../../meta/tap.bash"

corpus=${VIDI_TESTDATA:-}/corpus
if [ -z "${VIDI_TESTDATA:-}" ] || ! ls "$corpus"/*.txt.zst >/dev/null 2>&1 || ! command -v zstdcat >/dev/null; then
    echo "1..0 # SKIP VIDI_TESTDATA is not set, or has no corpus, or zstdcat is missing"
    exit 0
fi

ours='www\.w3\.org'       # the namespace of SVG
ours+='|[^.]*\.(html|csv)' # files that pages link to
reserved='(.*\.)?(example|test|invalid|localhost|example\.(com|net|org))'

# words_of FILE...: the words that could be hosts, each once.
words_of() {
    cat "$@" | LC_ALL=C sed 's/%[0-9A-Fa-f][0-9A-Fa-f]/ /g' | LC_ALL=C tr '[:upper:]' '[:lower:]' |
        LC_ALL=C tr -cs 'a-z0-9._\200-\377-' '\n' | LC_ALL=C sed 's/^[.-]*//; s/[.-]*$//' | LC_ALL=C grep -F . |
        LC_ALL=C grep -aE $'[a-z\x80-\xff]|\\..*\\..*\\.' | LC_ALL=C grep -avxE "$ours|$reserved" | LC_ALL=C sort -u
}

# find_words WORDS: those that are hosts of the corpus.
find_words() {
    zstdcat "$corpus"/*.txt.zst | LC_ALL=C cut -d/ -f3 | LC_ALL=C tr ':@?#' '[\n*]' |
        LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C grep -axFf "$1" | LC_ALL=C sort -u
}

has_no_host() {
    local found
    words_of "$@" | LC_ALL=C comm -12 - "$tmp/hosts" >"$tmp/here"
    found=$(wc -l <"$tmp/here")
    # Even here hosts are not printed.
    [ "$found" -eq 0 ] ||
        { echo "$found names of hosts, the first one with $(head -n 1 "$tmp/here" | wc -c) bytes" && false; }
}

lab() {
    HOME=$tmp XDG_CACHE_HOME=$tmp/cache "$VIDI_BUILD/vidi" lab "$@" --urls 500 --runs 1 --streams "$corpus"/*.txt.zst
}

mapfile -t studies < <("$VIDI_BUILD/vidi" lab list | grep -o '^streams-[^ ]*')
published=("$VIDI_SOURCE/docs/LAB.md" "$VIDI_SOURCE/lab/report/LAB.in.md" "$VIDI_SOURCE"/docs/lab/*)
check "a report can be made" lab report "${studies[@]}" -o "$tmp/report.html"
lab run "${studies[@]}" --csv >"$tmp/tables.csv"
lab run "${studies[@]}" --json >"$tmp/tables.json"
lab run "${studies[@]}" --raw >"$tmp/raw.csv"
lab run "${studies[@]}" >"$tmp/tables"
fresh=("$tmp/report.html" "$tmp/tables.csv" "$tmp/tables.json" "$tmp/raw.csv" "$tmp/tables")

# Two hosts of the corpus, one as it is and one as in a report's data, show that they would be found.
zstdcat "$corpus"/*.txt.zst 2>/dev/null | head -n 400 | LC_ALL=C cut -d/ -f3 |
    LC_ALL=C grep -axE '[a-z0-9-]+(\.[a-z0-9-]+)+' |
    LC_ALL=C grep -avxE "$ours|$reserved|[0-9.]*" | LC_ALL=C sort -u | head -n 2 >"$tmp/planted"
{ cat "$tmp/report.html" && sed -n 's|.*|<p>A page of &.</p>|;1p' "$tmp/planted"; } >"$tmp/plain.html"
{ cat "$tmp/report.html" && sed -n 's|.*|<a href="data:text/csv,lost%2C%22&%22%0A">|;2p' "$tmp/planted"; } \
    >"$tmp/packed.html"

words_of "${published[@]}" "${fresh[@]}" "$tmp/plain.html" "$tmp/packed.html" >"$tmp/words"
find_words "$tmp/words" >"$tmp/hosts"

check "the published pages have no host of the corpus" has_no_host "${published[@]}"
check "what a run with the corpus prints has none" has_no_host "${fresh[@]}"
check "two hosts were planted" [ "$(wc -l <"$tmp/planted")" -eq 2 ]
check "a planted host is found" [ "$(has_no_host "$tmp/plain.html" | grep -c '^1 names')" -eq 1 ]
check "a planted host in a report's data is found" [ "$(has_no_host "$tmp/packed.html" | grep -c '^1 names')" -eq 1 ]
finish
