# Runs are killed at many calls to the system, and readers of the output die. Whatever ends a run, every URL that the
# server has seen is in the log of somebody who has read it, and the runs after it bring the rest.
start_server
a=redis://$server/crawl
killed_at() # CALLS N COMMAND...: each thread dies at its Nth call of each sort
{
    local calls=$1 n=$2
    shift 2
    { strace -f -qq -o /dev/null -e "trace=$calls" -e "inject=$calls:signal=KILL:when=$n" "$@"; } 2> /dev/null
}
killed_at read 1 cat /dev/null
[ $? -eq 137 ] || { stop_server; skip "strace cannot be used here"; }
steps=write,sendto,fsync,rename,ftruncate,flock
make_urls 40000 > in
first_only in | sort > exact

# Whole lines of logs. The last one of a log may be torn.
lines_of() # LOG...
{
    awk 1 "$@" | grep -a '\.html$' | sort -u
}

# What was seen must be in the logs.
unlogged() # LOG...
{
    vidi has "$a" exact | sort | comm -23 - <(lines_of "$@")
}

{
    echo "-- kill -9, with a pipe"
    vidi init "$a"
    for n in 1 8 12 16 18 19 20 60 100 140; do
        [ $n -lt 30 ] || steps=recvfrom
        killed_at $steps $n vidi --threads $((n % 2 + 1)) -s "$a" in | cat > log.$n
        unlogged log.*
        later 61
    done
    [ "$(cat log.* | wc -l)" -gt 1000 ] || echo "the runs have printed too little"
    vidi -s "$a" in > log.end
    lines_of log.* | cmp - exact

    echo "-- readers that die"
    vidi rotate "$a" > /dev/null
    for n in 1 100 70000 300000; do
        vidi -s "$a" in | head -c $n > part.$n
        unlogged part.*
    done
    vidi -s "$a" in > part.end
    lines_of part.* | cmp - exact

    echo "-- kill -9, with a file: the note beside it says in whose name URLs are claimed, and nothing comes twice"
    vidi rotate "$a" > /dev/null
    steps=write,sendto,fsync,rename,ftruncate,flock
    for n in 1 2 3 4 5 6 8 11 14 16 17 18 19 80 140; do
        [ $n -lt 30 ] || steps=recvfrom
        killed_at $steps $n vidi -s "$a" -o out in
        [ ! -e out ] || unlogged out
    done > report
    vidi -s "$a" -o out in 2>> report || echo "status $?"
    grep -v Killed report
    first_only in | cmp - out

    echo "-- the next run begins at once, and waits for the claims of the one that was killed"
    vidi rotate "$a" > /dev/null
    killed_at sendto 9 vidi -s "$a" in | cat > some.1
    vidi -s "$a" in > some.2 &
    wait_until test -s some.2 # now it has asked about those that are claimed, which come first
    later 61
    wait $!
    unlogged some.*
    lines_of some.* | cmp - exact
    [ "$(lines_of some.2 | wc -l)" -gt "$(lines_of some.1 | wc -l)" ] || echo "there was nothing to wait for"
} 2>&1 | hide_server
stop_server
