# The program ends when its reader has taken everything, or is gone, or a signal comes.
urls a b c > in
mkfifo pipe
echo "-- a reader that is slow"
vidi -s st in > pipe &
exec 4< pipe
has_written() { read -r -t 0 -u 4; }
wait_until has_written
[ -d /proc/$! ] && echo "it waits"
cat <&4 &
wait %1
echo "status $?"
exec 4<&-
wait
vidi has st in | wc -l
echo "-- a signal: what was taken is seen"
for signal in INT TERM; do
    rm -rf st
    set -m
    vidi -s st in > pipe &
    set +m
    exec 4< pipe
    read -r -u 4 line && echo "$line"
    wait_until has_signal $! SigBlk 15
    { kill -$signal $!; wait $!; } 2> /dev/null
    echo "status $?"
    exec 4<&-
    vidi has st in
done
echo "-- a signal while the pipe is full"
rm -rf st
make_urls 100000 > many
vidi -s st --threads 3 many > pipe &
exec 4< pipe
for ((i = 0; i < 10; i++)); do read -r -u 4 line && echo "$line"; done > taken
wait_until has_signal $! SigBlk 15
{ kill -TERM $!; wait $!; } 2> /dev/null
echo "status $?"
exec 4<&-
vidi has st many | sort -u | cmp - <(sort taken)
echo "-- killed while its reader is slow: nothing that was not taken is seen"
rm -rf st
vidi -s st many > pipe &
pid=$!
exec 4< pipe
for ((i = 0; i < 2000; i++)); do read -r -u 4 line && echo "$line"; done > taken
until vidi has -q st <(head -n 1 many) 2> /dev/null; do sleep 0.05; done
{ kill -KILL $pid; wait $pid; } 2> /dev/null
exec 4<&-
vidi has st many | sort -u | comm -23 - <(sort -u taken) | wc -l
echo "-- an error is told before the reader is waited for"
rm -rf st
{ urls a b; echo "not a URL"; } > bad
: > err
vidi -s st --invalid fail bad > pipe 2> err &
pid=$!
exec 4< pipe
wait_until grep -qs . err
cat err
cat <&4
wait $pid
echo "status $?"
exec 4<&-
vidi has st bad 2> /dev/null
echo "-- killed while the pipe is full: what is in it ends with a whole line"
for threads in 1 3; do
    rm -rf st
    exec 4<> pipe
    vidi -s st --threads $threads many > pipe 4>&- &
    pid=$!
    wait_until has_written
    { kill -KILL $pid; wait $pid; } 2> /dev/null
    dd if=pipe iflag=nonblock bs=1M of=left 2> /dev/null
    exec 4<&-
    [ -z "$(tail -c 1 left)" ] && first_only many | head -n "$(wc -l < left)" | cmp - left
done
