# Shards of 8 MiB at most, and the load of the fullest node; the numbers are those of the library's plans for a shard.
try vidi plan --urls 1e9 --lost 1 --cluster 3
try vidi plan --urls 1e6 --cluster 1 --kind fingerprint
try vidi plan --urls 1e11 --cluster 100 --kind fingerprint
echo "-- for programs"
vidi plan --urls 1e9 --lost 1 --cluster 10 --json |
    jq -c '.[] | [.kind, .shards, .shard_urls, .nodes, .chosen, (.load * 1000 | round), .bytes == .shard_bytes * .shards,
        .fullest_node_bytes > .node_bytes, .expected_lost <= 1]'
echo "-- the plan is what init makes: so many bytes for so many URLs"
vidi plan --urls 1e6 --lost 0.5 --cluster 2 --json | jq -c '.[0] | [.kind, .shards, .params]'
echo "-- what makes no sense"
try vidi plan --cluster 3
try vidi plan --urls 1e9 --cluster 3 --plot
try vidi plan --urls 1e9 --cluster 0
try vidi plan --urls 1e20 --lost 1e-9 --kind fingerprint --cluster 3
