# Shards of 8 MiB at most, and the load of the fullest node; the numbers are those of the library's plans for a shard.
try vidi plan --urls 1e9 --lost 1 --cluster 3
try vidi plan --urls 1e6 --cluster 1 --kind fingerprint
try vidi plan --urls 1e11 --cluster 100 --kind fingerprint
echo "-- for programs"
vidi plan --urls 1e9 --lost 1 --cluster 10 --json |
    jq -c '.[] | [.kind, .shards, .shard_urls, .nodes, .chosen, (.load * 1000 | round), .bytes == .shard_bytes * .shards,
        .fullest_node_bytes > .node_bytes, .expected_lost <= 1]'
echo "-- the load of the fullest node, by trying all sides on which the shards that borders cut can be"
for nodes in 3 5 12; do
    vidi plan --urls 1e6 --cluster $nodes --kind fingerprint --json | jq -r '.[0] | "\(.nodes) \(.shards) \(.load)"'
done | awk '{
    nodes = $1
    shards = $2
    sum = 0
    for (sides = 0; sides < 2 ^ (nodes - 1); sides++) {
        chance = 1
        rest = sides
        most = before = 0
        for (node = 1; node <= nodes; node++) {
            at = node * shards / nodes
            whole = int(at)
            end = whole
            if (node < nodes) {
                left = rest % 2
                rest = int(rest / 2)
                cut = at - whole
                chance *= left ? cut : 1 - cut
                end += left
            }
            if (end - before > most)
                most = end - before
            before = end
        }
        sum += chance * most
    }
    load = sum / (shards / nodes)
    print nodes, shards, (load - $3 < 1e-9 && $3 - load < 1e-9 ? "as computed" : load " not " $3)
}'
echo "-- how a shard is made"
vidi plan --urls 1e6 --lost 0.5 --cluster 2 --json | jq -c '.[0] | [.kind, .shards, .params]'
echo "-- what makes no sense"
try vidi plan --cluster 3
try vidi plan --urls 1e9 --cluster 3 --plot
try vidi plan --urls 1e9 --cluster 0
try vidi plan --urls 1e20 --lost 1e-9 --kind fingerprint --cluster 3
