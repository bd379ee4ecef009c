#!/bin/bash
# tools/fuzz.sh SECONDS: fuzzes each target for SECONDS, starting with its seeds and the inputs that earlier runs found
# interesting. Inputs that break a promise are written to build/fuzz/found. Commit them to fuzz/corpus/TARGET with the
# fix, and the tests will replay them.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1-60}

tools/build.sh fuzz
dir=build/fuzz
found=$dir/found
mkdir -p $found
$dir/fuzz/fuzz_seeds $dir/seeds_read
rm -rf $dir/seeds_piece
mv $dir/seeds_read-pieces $dir/seeds_piece

status=0
for program in "$dir"/fuzz/fuzz_*; do
    name=${program##*/fuzz_}
    [ "$name" != seeds ] || continue
    inputs=("$dir/learnt_$name")
    mkdir -p "${inputs[0]}"
    for more in "fuzz/corpus/$name" "$dir/seeds_$name"; do
        [ ! -d "$more" ] || inputs+=("$more")
    done
    options=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1)
    options+=(-artifact_prefix="$found/$name-")
    [ ! -f "fuzz/$name.dict" ] || options+=(-dict="fuzz/$name.dict")
    echo "== $name, $seconds seconds"
    "$program" "${options[@]}" "${inputs[@]}" >"$dir/$name.log" 2>&1 || status=1
    grep -E '^(==|SUMMARY|artifact|stat::number_of|.*broken:)' "$dir/$name.log" || tail -n 20 "$dir/$name.log"
done
[ $status = 0 ] || echo "A target failed; see $dir/*.log and $found." >&2
exit $status
