# What cases share. shellcheck shell=bash

# Ends the case as not possible here.
skip()
{
    echo "$1"
    exit 77
}

# Runs a command and shows it, its output and, if that is not 0, its exit status. stderr stays in its place.
try()
{
    local status
    echo "\$ $*"
    "$@" 2>&1
    status=$?
    [ $status -eq 0 ] || echo "[status $status]"
}

# The parts of statistics that differ from run to run.
hide_times()
{
    sed -E -e 's/^(seconds|URLs\/s|memory)( +).*/\1\2*/' \
        -e 's/"(seconds|urls_per_second|memory_bytes)":[0-9.e+-]+/"\1":0/g'
}

# Waits until a command succeeds, for 20 seconds at most.
soon()
{
    local tries
    for ((tries = 0; tries < 400; tries++)); do
        "$@" && return
        sleep 0.05
    done
    echo "in vain: $*"
    return 1
}

# N lines of about 60 bytes, 40 % of them repeats of an earlier one; always the same.
make_urls()
{
    awk -v n="$1" 'BEGIN {
        state = 12345
        for (i = 0; i < n; i++) {
            state = (state * 16807) % 2147483647
            if (fresh > 0 && state % 10 < 4) {
                state = (state * 16807) % 2147483647
                pick = state % fresh
            } else {
                pick = fresh++
            }
            printf "https://host%d.example.org/folder/%d/page-%d.html\n", pick % 97, pick % 1009, pick
        }
    }'
}

# The exact answer.
first_only()
{
    awk '!seen[$0]++' "$@"
}

# A state from the lines on stdin: see make_state.c.
make_state()
{
    "$VIDI_BUILD/tests/make_state" "$@"
}

# Lines for it: a URL for each word.
urls()
{
    [ $# -eq 0 ] || printf 'http://%s.example/\n' "$@"
}

# Puts an X at an offset of a file.
damage()
{
    printf X | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Lets another process have a state open for writing, until `let_go`.
hold()
{
    mkfifo "$1.gate"
    make_state --hold --open "$1" < "$1.gate" > "$1.held" &
    exec 9> "$1.gate"
    while [ ! -s "$1.held" ] && kill -0 $! 2> /dev/null; do sleep 0.02; done
}

let_go()
{
    exec 9>&-
    wait
}
