# A consumer that acknowledges each line, through two pipes: nobody waits for the other for ever.
make_urls 60000 > in
first_only in > exact
mkfifo lines acks
for threads in 1 3; do
    rm -rf st
    vidi -s st --threads $threads --ack acks in > lines &
    awk '{ print > "out"; print NR; fflush() }' < lines > acks
    wait $!
    echo "status $?"
    cmp out exact
    vidi has st exact | cmp - exact
done
echo "-- a consumer that dies in the middle"
rm -rf st
vidi -s st --ack acks in > lines &
awk '{ print NR } NR == 12345 { fflush(); exit }' < lines > acks
wait $!
echo "status $?"
vidi has st exact | cmp - <(head -n 12345 exact)
echo "-- a consumer that acknowledges at the end, after everything"
rm -rf st
vidi -s st --ack acks in > lines &
awk 'END { print NR }' < lines > acks
wait $!
echo "status $?"
