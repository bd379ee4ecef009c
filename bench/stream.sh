#!/bin/bash
# Compares the program with the tools people use instead, on one file of synthetic URLs with 40 % repeats, read from the
# page cache.
#
#   bench/stream.sh BUILD [LINES] [ROUNDS]      default: 5e6 lines, 3 rounds; or set BENCH_LINES and BENCH_ROUNDS
#
# All take turns, so that other work on the machine affects all of them; slow ones (over 20 s) run once. Every output is
# compared byte for byte with the exact answer, sorted where the peer sorts. Prints a table and adds rows to
# BUILD/bench.json.
set -eu
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
lines=${2:-${BENCH_LINES:-5e6}}
rounds=${3:-${BENCH_ROUNDS:-3}}
n=$(awk -v n="$lines" 'BEGIN { printf "%d", n }')
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
vidi=$build/vidi

"$build/bench/vidi-lines" "$n" > in
cat in > /dev/null
bytes=$(stat -c %s in)
gigabytes=$(awk -v b="$bytes" 'BEGIN { printf "%.2f", b / 1e9 }')
# The exact answer, by a well-known tool.
awk '!seen[$0]++' in > exact
LC_ALL=C sort exact > exact.sorted
fresh=$(wc -l < exact)

names=() commands=() answers=()
add() { # NAME ANSWER COMMAND: ANSWER is the file that the output must equal, or '-'
    names+=("$1") answers+=("$2") commands+=("$3")
}
has() {
    command -v "$1" > /dev/null || { echo "$1 is left out: it is not installed" >&2; return 1; }
}
add 'vidi' exact "$vidi in"
add 'vidi --canon none' exact "$vidi --canon none in"
add 'vidi --canon none --capacity' exact "$vidi --canon none --capacity $n in"
for ((threads = 1; threads < $(nproc); threads *= 2)); do
    add "vidi --threads $threads" exact "$vidi --threads $threads in"
done
add 'cat | vidi | cat' exact "cat in | $vidi | cat"
add 'vidi --state' exact "rm -rf st; $vidi --state st in"
add 'cat' - 'cat in | cat'
add 'wc -l' - 'wc -l in'
add 'sort -u' exact.sorted 'sort -u in'
has mawk && add 'mawk' exact "mawk '!s[\$0]++' in"
has gawk && add 'gawk' exact "gawk '!s[\$0]++' in"
has perl && add 'perl' exact "perl -ne 'print unless \$s{\$_}++' in"
has python3 && add 'python3' exact "python3 -c '
import sys
s, out = set(), sys.stdout.buffer
for l in open(\"in\", \"rb\"):
    if l not in s:
        s.add(l)
        out.write(l)'"
[ ! -x "$build/bench/vidi-bloom-lines" ] || add 'libbloom' exact "$build/bench/vidi-bloom-lines $n < in"

declare -A best mem wrong
for ((round = 1; round <= rounds; round++)); do
    for i in "${!names[@]}"; do
        name=${names[$i]}
        # Slow commands run once.
        if [ "$round" -gt 1 ] && awk -v s="${best[$name]}" 'BEGIN { exit s < 20 }'; then
            continue
        fi
        rm -f out # because truncating a large file takes time
        /usr/bin/time -o time -f '%e %M' bash -c "${commands[$i]}" > out
        read -r seconds kilobytes < <(tail -n 1 time)
        best[$name]=$(awk -v a="${best[$name]-1e9}" -v b="$seconds" \
            'BEGIN { if (b < 0.005) b = 0.005; print a + 0 < b + 0 ? a : b }')
        mem[$name]=$kilobytes
        if [ "${answers[$i]}" != - ] && ! cmp -s out "${answers[$i]}"; then
            # A peer that is not exact may lose lines, but must not add any.
            wrong[$name]=$(comm -13 <(sort out) exact.sorted | wc -l)
        fi
    done
done

echo "$n lines, $gigabytes GB, $fresh of them new; best of $rounds rounds, taking turns; output to a file"
printf '%-30s %8s %8s %9s %10s  %s\n' '' seconds GB/s resident 'vidi is' output
for name in "${names[@]}"; do
    note=exact
    [ -z "${wrong[$name]-}" ] || note="${wrong[$name]} lines are missing"
    case $name in cat | 'wc -l') note='-' ;; esac
    awk -v name="$name" -v s="${best[$name]}" -v b="$bytes" -v k="${mem[$name]}" -v v="${best[vidi]}" -v note="$note" \
        'BEGIN { printf "%-30s %8.2f %8.2f %6.0f MB %9.1fx  %s\n", name, s, b / s / 1e9, k / 1024, s / v, note }'
done

rows() {
    for name in "${names[@]}"; do
        awk -v name="$name" -v s="${best[$name]}" -v b="$bytes" -v n="$n" -v v="${best[vidi]}" -v r="$rounds" \
            -v k="${mem[$name]}" -v wrong="${wrong[$name]-0}" 'BEGIN {
            peer = name == "vidi" ? "null" : "\"" name "\""
            printf "{\"name\":\"stream\",\"subject\":\"vidi\",\"peer\":%s,\"n\":%d,", peer, n
            printf "\"ns_per_op\":%.6g,\"bytes_per_op\":%.6g,", v / n * 1e9, b / n
            printf "\"ratio\":%s,", peer == "null" ? "null" : sprintf("%.6g", s / v)
            printf "\"note\":\"to a file; the peer takes %.6g ns a line, %d KiB resident, ", s / n * 1e9, k
            printf "%d lines missing\",\"rounds\":%d}\n", wrong, r
        }'
    done
}
rows | "$here/add_rows.sh" "$build/bench.json" stream
