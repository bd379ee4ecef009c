# A state holds nearly as many URLs as fit into the same memory without one, and can be opened again.
awk 'BEGIN { for (i = 0; i < 550000; i++) print "http://host" i % 97 ".example/" i }' > in
most=$(vidi --memory 4M in 2> /dev/null | wc -l)
nearly() { [ "$1" -gt $((most * 4 / 5)) ] && echo "nearly as many" || echo "$1 of $most"; }
for threads in 1 3; do
    for where in "-s plain.$threads" "-s file.$threads -o out.$threads"; do
        # shellcheck disable=SC2086
        vidi --memory 4M --threads $threads $where in > printed 2> err
        echo "status $?"
        grep -c "memory limit of 4.0 MiB" err
        [ -s printed ] || cat "out.$threads" > printed
        nearly "$(wc -l < printed)"
        read -r _ state _ <<< "$where"
        vidi has "$state" printed | cmp - printed
        vidi --memory 4M -s "$state" /dev/null
    done
done
echo "-- a consumer that acknowledges nothing"
mkfifo lines acks
vidi --memory 4M -s st --ack acks in > lines 2> err &
cat < lines > printed 5> acks
wait $!
echo "status $?"
sed 's/[0-9]* wait for/N &/; s/N [0-9]*/N/; s/; [0-9]* lines/; N lines/; s/only [0-9]*/only N/' err
echo "-- less memory than it takes to open it"
vidi --memory 1M -s plain.1 /dev/null 2>&1 | sed 's/another .* would/another N would/; s/in use: [^)]*/in use: N/'
