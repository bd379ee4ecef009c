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

# A set's random key decides where its URLs go, and so when the table of a `fingerprint` set grows and how full it is.
hide_fill()
{
    sed -E -e 's/^(fill +)[#.]+ [0-9.]+ %/\1FILL/' -e 's/"fill":[0-9.e+-]+/"fill":0/g'
}

# Waits until a command succeeds. Nobody knows how long that takes on a busy machine: the harness ends what never comes.
wait_until()
{
    until "$@"; do sleep 0.05; done
}

# Is a signal, by its number, in a set of signals (SigBlk: those it blocks, ShdPnd: those that wait for it) of a process?
has_signal()
{
    local mask
    mask=$(sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status")
    [ $((0x$mask >> ($3 - 1) & 1)) -eq 1 ]
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

# Makes a state whose last run has ended look as if that run had been killed before it could close its output file.
as_if_killed() # STATE
{
    local note
    note=$(make_state --tell-note "$1")
    make_state --open --note "${note/ closed / open }" "$1" < /dev/null
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
    wait_until test -s "$1.held"
}

let_go()
{
    exec 9>&-
    wait
}

# Serves the files of a folder, with robots.txt if it has one, until `stop_site`. $site is its URL, with '/' at the end.
start_site() # FOLDER [OPTION]...
{
    [ -x "$VIDI_BUILD/tests/site_server" ] || skip "the site server is not built"
    mkfifo site.until
    "$VIDI_BUILD/tests/site_server" --folder "$@" < site.until > site.url &
    exec 8> site.until
    wait_until test -s site.url
    site=$(head -n 1 site.url)
}

stop_site()
{
    exec 8>&-
    wait
    rm -f site.until site.url
}

# A crawl of the site without pauses.
crawl()
{
    vidi crawl --allow-net loopback --delay 0 "$@"
}

# What differs from run to run: the server's port, times, digests of the port.
hide_site()
{
    sed -E -e "s,${site%/},http://site,g" -e 's/"seconds":[0-9.e+-]+/"seconds":0/g' -e 's/ in [0-9.]+ s$/ in N s/' \
        -e 's/"(began|ended)":"20[0-9-]+T[0-9:]+Z"/"\1":"DATE"/g'
}

# Starts a server with vidi's module, or a cluster of so many, until `stop_server`. $server is what an address has for it.
start_server() # [PRIMARIES]
{
    local program=${VIDI_REDIS_SERVER:-redis-server}
    command -v "$program" > /dev/null || skip "there is no $program"
    [ -e "$VIDI_BUILD/redisvidi.so" ] || skip "the module is not built"
    vidi info redis://localhost:1/none 2>&1 | grep -q VIDI_WITH_FLEET && skip "built without VIDI_WITH_FLEET"
    mkfifo server.until
    /usr/bin/python3 -B "$VIDI_SOURCE/tests/cli/server.py" "$@" < server.until > server.hosts &
    exec 6> server.until
    wait_until test -s server.hosts
    server=$(head -n 1 server.hosts)
    export VIDI_TEST_KEYS=case # not the arguments, which have the port
}

stop_server()
{
    exec 6>&-
    wait
    rm -f server.*
}

hide_server()
{
    sed -e "s/${server//./\\.}/SERVER/g"
}

# Sets the server's clocks forward.
later() # SECONDS
{
    /usr/bin/python3 -c '
import struct, sys
with open("server.clock", "r+b") as file:
    micros = struct.unpack("=q", file.read(8))[0] + int(sys.argv[1]) * 1000000
    file.seek(0)
    file.write(struct.pack("=qq", micros, micros))' "$1"
}
