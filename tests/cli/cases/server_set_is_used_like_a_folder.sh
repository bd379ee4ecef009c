# What works with a folder works with the address of a set on a server.
start_server
a=redis://$server/crawl
{
    urls a b c a > in
    echo "-- nothing is made by accident"
    try vidi -s "$a" in
    try vidi init "$a"
    try vidi init "$a"
    echo "-- what is new"
    try vidi -s "$a" in
    urls c d | try vidi -s "$a" --stats | hide_times
    urls e | try vidi -s "$a" --dry-run
    urls a b e | try vidi -s "$a" --print verdict --canon whatwg
    urls a f | try vidi -s "$a" --seen
    echo "-- options that the set does not fit"
    try vidi -s "$a" --kind hashset in
    try vidi -s "$a" --canon crawl in
    echo "-- lookups and removals"
    urls a b z | try vidi has "$a"
    urls a z | try vidi has -v -q "$a"
    urls b z | try vidi remove "$a"
    urls b | try vidi -s "$a"
    try vidi list "$a"
    vidi list --hashes "$a" | wc -l
    echo "-- the whole set"
    try vidi info "$a" | hide_times | hide_fill
    vidi info --json "$a" | jq -c '[.path, .shards, .nodes, .claims, .count, .least, .most, .epoch, (.id | length)]'
    try vidi check "$a"
    try vidi top --once "$a" | hide_times | hide_fill
    vidi top --once --json "$a" | jq -c '[.shards, .nodes, .claims, .count]'
    try vidi rotate --capacity 1000 "$a"
    urls a | try vidi -s "$a"
    try vidi drop "$a"
    try vidi drop --yes "$a"
    try vidi drop --yes "$a"
    echo "-- a new set as planned"
    try vidi init "$a" --capacity 1e6 --lost 1 --shards 4 --canon crawl
    vidi info --json "$a" | jq -c '[.kind, .shards, .capacity, .canon]'
    echo "-- passwords are shown nowhere, not even in the words of a running process"
    redis-cli -p "${server##*:}" ACL SETUSER worker on '>hushhush' '~*' +@all
    mkfifo gate
    vidi -s "redis://worker:hushhush@$server/crawl" < gate > hidden 2>&1 &
    exec 9> gate
    urls a >&9
    wait_until test -s hidden
    tr '\0' ' ' < /proc/$!/cmdline | sed 's/xx*@/PASSWORD@/'
    exec 9>&-
    wait $!
    echo
    try vidi has "redis://worker:@$server/crawl" hidden
    VIDI_REDIS_PASSWORD=hushhush try vidi has "redis://worker:@$server/crawl" hidden
} 2>&1 | hide_server
stop_server
