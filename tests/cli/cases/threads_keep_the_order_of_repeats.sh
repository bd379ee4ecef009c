# Lines that can be told apart, although three of them have the same URL, some blocks further on: of each three the first
# is printed, however many blocks are added at the same time. URLs that do not end in a newline, are dropped or are no
# URLs change nothing about it.
awk 'BEGIN {
    for (i = 0; i < 600000; i++)
        printf "%d\thttp://host.example/%d\n", i, int(i / 60000) * 20000 + i % 20000
    printf "600000\thttp://host.example/19999"
}' > in
awk -F '\t' '!seen[$2]++' in > exact
awk -F '\t' 'seen[$2]++' in > repeats
for threads in 2 16; do
    for _ in 1 2 3; do
        vidi --threads $threads -f 2 in | cmp - exact
    done
    cat in | vidi --threads $threads -f 2 | cmp - exact
    vidi --threads $threads -f 2 --seen in | cmp - repeats
    vidi --threads $threads -f 2 --print url in | cmp - <(cut -f 2 exact)
    vidi --threads $threads -f 2 --print verdict in | grep -c new
    vidi --threads $threads -f 2 --kind blocked --capacity 1e6 --error 1e-12 in | cmp - exact
    vidi --threads $threads -f 2 --kind hashset in | cmp - exact
done
