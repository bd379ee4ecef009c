#!/bin/bash
# Measures on a machine that has nothing but the folder build/bench-threads-static, which `make bench-threads-static`
# fills. Each part takes less than nine minutes, and prints every figure as soon as it is known.
#
#   on_many_cores.sh threads    1e7 URLs, all rows, three rounds if there is time
#   on_many_cores.sh large      1e8 URLs, the main rows, one round; needs 3 GB of memory
#   on_many_cores.sh program    vidi with 1, 2, 4 and more threads on a file of LINES_COUNT (20e6) lines
#
# Further options go to vidi-bench-threads, or to vidi. TMP (/tmp) is where a set in a folder is made, and the file if
# there is no room in /dev/shm.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cores=$(nproc)

list() {
    local threads
    for ((threads = 1; threads < cores; threads *= 2)); do echo "$threads"; done
    echo "$cores"
}

# make_lines FOLDER: makes the file in a folder, or fails if it has no room.
make_lines() {
    file=$(mktemp "$1/vidi-lines.XXXXXX") && "$here/vidi-lines" "${LINES_COUNT:-20e6}" >"$file"
}

# The output must be the same with any number of threads, in the same order. Writing it is not timed.
program() {
    local round threads times sum want='' TIMEFORMAT='%R s | %U + %S s'
    trap 'rm -f "$file"' EXIT
    make_lines /dev/shm || { rm -f "$file" && make_lines "${TMP:-/tmp}"; }
    echo "| threads | round | elapsed | processor time |"
    echo "|--:|--:|--:|--:|"
    for round in 0 1 2 3; do
        for threads in $(list); do
            if [ "$round" -eq 0 ]; then
                sum=$("$here/vidi" --threads "$threads" "$@" "$file" | cksum)
                [ "${want:=$sum}" = "$sum" ] || { echo "$threads threads print something else" >&2; exit 1; }
                continue
            fi
            times=$({ time "$here/vidi" --threads "$threads" "$@" "$file" >/dev/null; } 2>&1)
            echo "| $threads | $round | $times |"
        done
    done
}

file=
part=${1:-}
[ $# -eq 0 ] || shift
case $part in
threads) exec "$here/vidi-bench-threads" --sizes 1e7 --seconds 500 --folder "${TMP:-/tmp}" "$@" ;;
large) exec "$here/vidi-bench-threads" --sizes 1e8 --seconds 480 --folder "${TMP:-/tmp}" "$@" ;;
program) program "$@" ;;
*)
    sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
