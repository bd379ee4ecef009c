command -v jq > /dev/null || skip "jq is missing"
printf 'a\nb\na\nc\nb\na\n' | vidi --kind hashset --stats --json 2> stats
wc -l < stats
jq -c '[.read, .new, .seen, .invalid, .bytes_in, .expected_lost, .kind, .epoch]' stats
jq -c '[.seconds, .urls_per_second, .memory_bytes] | map(type)' stats
jq -r 'keys_unsorted | join(" ")' stats
# --json alone asks for statistics too; so does an empty run.
vidi --kind hashset --json < /dev/null 2>&1 | jq -c '[.read, .new, .urls_per_second]'
# A kind that loses pages says how many.
make_urls 5000 | vidi --kind classic --capacity 1000 --error 0.01 --json 2>&1 > /dev/null |
    sed 1d | jq -c '[.expected_lost > 10, .expected_lost_is, .capacity]'
