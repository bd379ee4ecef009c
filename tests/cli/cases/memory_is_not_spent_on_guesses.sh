# The beginning of a file says how many URLs to expect of it. Where the rest is nothing but repeats, that is far too
# many: what fits into the memory fits all the same, and no more is taken than there is use for.
seq -f 'http://www.example.org/folder/%.0f' 1 60000 > some
for _ in $(seq 30); do cat some; done > early
for threads in 1 16; do
    vidi --threads $threads --memory 1M early | cmp - some && echo "$threads: same"
    vidi --threads $threads --memory 1M < early | cmp - some && echo "$threads: same"
    cat early | vidi --threads $threads --memory 1M | cmp - some && echo "$threads: same"
    vidi --threads $threads --stats --json early 2>&1 > /dev/null |
        sed -E 's/.*"memory_bytes":([0-9]+).*/\1/' | awk '{ print $1 < 60000 * 8 * 2 ? "little" : $1 " bytes" }'
done
seq 150000 > some
for _ in $(seq 40); do cat some; done > early
vidi --canon none --memory 1600K early | cmp - some && echo same
echo "-- the file has become longer than it was, and all that is new came late"
awk 'BEGIN { for (i = 0; i < 300000; i++) print "http://a.org/" i % 9 }' > grows
mkfifo pipe
vidi --threads 1 --seen --memory 8M --stats grows 2> stats > pipe &
{
    head -n 1 > /dev/null # it has begun, and now waits until somebody reads on
    seq -f "http://www.example.org/$(printf %060d 0)/%.0f" 1 300000 >> grows
    awk 'END { print $0 }'
} < pipe
wait
grep -E '^(vidi|lines|new|seen)' stats
echo "-- many threads that grow the set come as far as one; of the last lines that are asked together, some may be left out"
seq -f 'http://www.example.org/folder/%.0f' 1 2200000 > many
for threads in 1 16; do
    vidi --threads $threads --memory 18M many 2> err |
        awk -F / '{ if ($5 <= last) print "out of order: " $0; last = $5 }
            END { print (NR > 2060000 && NR < 2200000 ? "far" : NR), (last - NR < 2048 ? "whole" : last - NR) }'
done
