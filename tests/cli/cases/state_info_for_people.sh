urls a b c a | make_state --kind hashset s
try vidi info s | hide_times
echo "-- without a log"
vidi snapshot s > snapshot
try vidi info s | hide_times
echo "-- an exported file"
vidi export s file
try vidi info file | hide_times
vidi info - < file | sed 's/^path  *-$/path                 file/' | diff - <(vidi info file)
echo "-- a hash that is not keyed, a kind that touches so many lines, another form"
seq 100 | sed 's|^|http://example/|' > lines
make_state --kind classic --params hash=xxh3 --capacity 1000 --canon crawl,-sort c < lines
try vidi info c | hide_times
make_state --kind blocked --capacity 1000 b < lines
vidi info --json b | grep -o '"lines_touched":[0-9]*'
