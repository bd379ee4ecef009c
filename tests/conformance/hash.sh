#!/bin/sh
# The hash functions against published vectors, and vectors made with the authors' code, from
# $VIDI_TESTDATA/conformance/hash/hash_vectors.json. One line of TAP a function.
set -u

functions='siphash_2_4_128 jenkins_lookup2 jenkins_one_at_a_time murmurhash2_32 murmurhash3_x86_32 md5 sha1 xxh3_128'
vectors=${VIDI_TESTDATA:-}/conformance/hash/hash_vectors.json
program=${VIDI_BUILD:-build}/tests/hash_lines

echo "1..$(echo "$functions" | wc -w)"
number=0

skip_all() {
    for function in $functions; do
        number=$((number + 1))
        echo "ok $number - $function # SKIP $1"
    done
    exit 0
}

[ -n "${VIDI_TESTDATA:-}" ] || skip_all 'no VIDI_TESTDATA'
[ -r "$vectors" ] || skip_all "no $vectors"
command -v jq >/dev/null || skip_all 'no jq'

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# Each vector as "FUNCTION SEED INPUT EXPECTED", the expected bytes lowest first and no more than the 16 that we use. The
# seeds become strings before jq sees them, because jq's numbers have 53 bits. Vectors of XXH3 with a seed apply from 241
# bytes on: below, the seed does not act through the secret, which is all that our XXH3 has.
sed -E 's/"seed": *([0-9]+)/"seed": "\1"/' "$vectors" | jq -r '
    def reversed: ascii_downcase | [scan("..")] | reverse | join("");
    def bytes: if .input_hex then (.input_hex | length) / 2 else .len end;
    (.published_vectors + .reference_generated_vectors)[]
    | select((.fn == "xxh3_128" and .seed != "0" and bytes <= 240) | not)
    | [.fn,
       (.key_hex // .seed // "0"),
       (if .input_hex then "hex:" + .input_hex elif .buffer == "xxh_prng" then "xxh:\(.len)" else "count:\(.len)" end),
       (.out_le_bytes // (.out_bytes | values | .[:32]) // (.out // "" | reversed))]
    | join(" ")' >"$work/all" || exit 1
jq -r '.smhasher_verification[]
    | [.fn, "0", "smhasher", (.verification[2:] | ascii_downcase | [scan("..")] | reverse | join(""))]
    | join(" ")' "$vectors" >"$work/verifications" || exit 1
# For XXH3 that one is about seeds below 241 bytes too.
grep -v '^xxh3_128 ' "$work/verifications" >>"$work/all"

for function in $functions; do
    number=$((number + 1))
    grep "^$function " "$work/all" >"$work/asked"
    cut -d' ' -f1-3 "$work/asked" | "$program" >"$work/answers" || echo 'error: the program failed' >>"$work/answers"
    cut -d' ' -f4 "$work/asked" >"$work/expected"
    count=$(wc -l <"$work/asked" | tr -d ' ')
    if [ "$count" -gt 0 ] && [ "$(sort -u "$work/answers")" = absent ]; then
        echo "ok $number - $function # SKIP not in this build"
    elif [ "$count" -gt 0 ] && cmp -s "$work/answers" "$work/expected"; then
        echo "ok $number - $function: $count vectors"
    else
        echo "not ok $number - $function: $count vectors"
        paste -d' ' "$work/asked" "$work/answers" | awk '$4 != $5 { print "# " substr($0, 1, 200) }' | head -5
        failed=1
    fi
done
exit "${failed:-0}"
