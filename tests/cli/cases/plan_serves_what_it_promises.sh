# The params of a plan make a set of that size, and it loses what was planned: 1 page of 1e5, so hardly ever 12.
awk 'BEGIN { for (i = 0; i < 100000; i++) print "https://example.org/page/" i }' > in
vidi plan --kind classic --urls 1e5 --lost 1 --json > plan
params=$(sed -nE 's/.*"params":"([^"]*)".*/\1/p' plan)
planned=$(sed -nE 's/.*"bytes":([0-9]*).*/\1/p' plan)
vidi --kind classic --param "$params" --json in 2> stats > out
made=$(sed -nE 's/.*"memory_bytes":([0-9]*).*/\1/p' stats)
lost=$((100000 - $(wc -l < out)))
[ "$planned" -gt 200000 ] && [ "$planned" -lt 400000 ] && echo "planned size is plausible" || echo "planned $planned"
[ "$made" -ge "$planned" ] && [ "$made" -lt $((planned + 65536)) ] && echo "made as planned" || echo "made $made"
[ $lost -lt 12 ] && echo "loses as planned" || echo "lost $lost"
