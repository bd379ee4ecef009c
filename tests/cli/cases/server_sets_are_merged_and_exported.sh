# Sets move between a cluster and folders, as far as it is known which shard a URL belongs to.
start_server 3
a=redis://$server/hashes
b=redis://$server/urls
hide_shard()
{
    sed -E -e 's/\{hashes:0:[0-9]+\}/{KEY}/g' -e 's/[0-9a-f]{16} was/ID was/'
}
{
    make_urls 3000 > in
    first_only in > exact
    try vidi init "$a"
    vidi -s "$a" in | cmp - exact
    vidi info --json "$a" | jq -c '[.shards, .nodes, .count, .least > 80]'
    echo "-- from the cluster to a file, and back into a folder"
    try vidi export "$a" file
    try vidi import folder file | sed 's/of [0-9.]* KiB/of SIZE/'
    vidi has -v folder exact
    try vidi merge all "$a"
    try vidi merge all "$a" file
    vidi has -v all exact
    echo "-- hashes cannot go back to shards"
    try vidi merge "$a" folder
    echo "-- URLs can"
    try vidi init "$b" --kind hashset --shards 5
    urls a b c | make_state --kind hashset abc
    urls c d | make_state --kind sorted cd
    try vidi merge "$b" abc cd
    try vidi list "$b" | sort
    try vidi merge "$b" "$b"
    try vidi init "redis://$server/more" --kind hashset
    try vidi merge "redis://$server/more" "$b"
    try vidi merge urls "$b"
    try vidi list urls | sort
    try vidi merge "$b" file
    urls x | make_state --kind hashset --canon crawl other
    try vidi merge "$b" other
    echo "-- kinds whose shards do not fit into one set"
    try vidi init "redis://$server/bloom" --kind classic --capacity 4000 --error 1e-3 --shards 4
    vidi -s "redis://$server/bloom" in | wc -l
    try vidi export "redis://$server/bloom" bloom | sed 's/(.*)/(WHY)/'
    try vidi export --force "redis://$server/bloom" bloom
    vidi has -v bloom exact
    echo "-- a shard that is gone is missed"
    key=$(for port in ${server//,/ }; do redis-cli -p "${port##*:}" --scan --pattern '{hashes:0:*'; done)
    redis-cli -c -p "${server##*:}" DEL "$key" > /dev/null
    try vidi check "$a" | hide_shard
    urls a z | try vidi -s "$a" | hide_shard
    try vidi drop --yes "$a"
} 2>&1 | hide_server
stop_server
