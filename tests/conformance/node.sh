#!/bin/bash
# Agreement with Node's URL, where Node is installed: the canonical form `whatwg` over $VIDI_TESTDATA/corpus, one line
# in 83 of it or all if VIDI_TEST_LONG is set, and links resolved against their pages. What is known to differ is
# counted apart (see node.mjs); anything else fails. One line of TAP a file.
set -u

data=${VIDI_TESTDATA:-}
program=${VIDI_BUILD:-build}/tests/url_lines
script=$(dirname "$0")/node.mjs
step=83
case ${VIDI_TEST_LONG:-} in '' | 0) ;; *) step=1 ;; esac
export LC_ALL=C

if [ -z "$data" ] || ! command -v node >/dev/null; then
    echo "1..1"
    echo "ok 1 - agreement with Node # SKIP $([ -z "$data" ] && echo no test data || echo node is not installed)"
    exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
shopt -s nullglob
number=0
failed=0

# compare NAME MODE < LINES: pieces of a size that Node can hold, and the sum of what it says of them.
compare()
{
    number=$((number + 1))
    rm -f "$work"/piece.*
    split -l 200000 - "$work/piece."
    for piece in "$work"/piece.??; do
        "$program" "$2" <"$piece" >"$work/answers" && node "$script" "$2" "$piece" "$work/answers" || echo "different 1"
    done >"$work/said"
    sum=$(awk '/^(same|different)/ { gsub(",", ""); for (i = 1; i < NF; i += 2) n[$i] += $(i + 1) }
        END { printf "same %d, ^ %d, international %d, different %d", n["same"], n["^"], n["international"],
              n["different"] }' "$work/said")
    case $sum in
    'same 0,'* | *'different '[1-9]*)
        echo "not ok $number - $1: $sum"
        grep -av '^same' "$work/said" | head -n 20 | sed 's/^/# /'
        failed=1
        ;;
    *) echo "ok $number - $1: $sum" ;;
    esac
}

files=("$data"/corpus/*.txt.zst)
triples=$data/conformance/resolve_triples_A.jsonl.zst
[ -r "$triples" ] || triples=
count=${#files[@]}
[ -z "$triples" ] || count=$((count + 1))
echo "1..$count"
for file in "${files[@]}"; do
    compare "$(basename "$file" .txt.zst)" canon < <(zstdcat "$file" | awk -v step=$step 'NR % step == 1 || step == 1')
done
if [ -n "$triples" ]; then
    compare resolve_triples_A resolve < <(zstdcat "$triples" | awk -v step=$((step > 3 ? 3 : 1)) 'NR % step == 0' |
        node "$script" triples)
fi
exit $failed
