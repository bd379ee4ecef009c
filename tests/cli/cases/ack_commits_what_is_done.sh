# Only what the consumer acknowledges is remembered.
urls a b c d e > in
mkfifo acks
begin() # OPTION...: vidi with a FIFO for acknowledgements, which is open as 5
{
    rm -rf st out
    "$@" --ack acks > out &
    pid=$!
    exec 5> acks
}
finish()
{
    exec 5>&-
    wait $pid
    echo "status $?"
    vidi has st in
}
written() { [ "$(wc -l < out)" -ge "$1" ]; }
echo "-- everything"
begin vidi -s st in
wait_until written 5
printf '2\n2\n5\n' >&5
finish
echo "-- a part; the last number is not ended, so it is not a number"
begin vidi -s st in
wait_until written 5
printf '1\n3\n5' >&5
finish
echo "-- nothing"
begin vidi -s st in
wait_until written 5
finish
echo "-- no output, nothing to acknowledge"
begin vidi -s st <(printf '')
finish
echo "-- what is wrong counts for nothing"
for wrong in '3\n2\n' '2\n6\n' '2\nx\n' '2\n\n' '2\n-3\n' '2\n99999999999999999999\n' '2\n123456789012345678901234567890\n'; do
    begin vidi -s st in
    wait_until written 5
    # shellcheck disable=SC2059
    printf "$wrong" >&5
    finish
done
echo "-- a file descriptor, a header that counts as a line, and a pipe"
rm -rf st
printf 'url\nhttp://a.example/\nhttp://b.example/\n' > csv
mkfifo lines
vidi -s st --header -f url --ack 6 csv 6< acks > lines &
pid=$!
exec 5> acks
while read -r line; do echo "$line"; echo $((++n)) >&5; [ $n -lt 2 ] || break; done < lines
exec 5>&-
wait $pid
echo "status $?"
vidi has st in
echo "-- the output file: what is not acknowledged is cut off"
begin vidi -s st -o file in
wait_until test -s file
printf '2\n' >&5
finish
try vidi -s st -o file in
cat file
echo "-- a signal"
set -m
begin vidi -s st in
set +m
wait_until written 5
printf '2\n' >&5
until vidi has -q st <(urls b) 2> /dev/null; do sleep 0.05; done
{ kill -INT $pid; wait $pid; } 2> /dev/null
echo "status $?"
exec 5>&-
vidi has st in || true
