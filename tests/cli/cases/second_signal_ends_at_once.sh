# Its output is stuck; the first signal waits for that, the second does not.
mkfifo to from
vidi --threads 3 < to > from &
pid=$!
[ -r /proc/$pid/io ] || skip "there is no /proc/PID/io"
exec 3> to 4<> from
echo http://first.example/ >&3
read -r -u 4 line && echo "$line"
dd if=/dev/zero of=from bs=4096 oflag=nonblock 2> /dev/null # until the pipe is full
has_read()
{
    [ "$(sed -n 's/^rchar: //p' /proc/$pid/io)" -gt "$1" ]
}
before=$(sed -n 's/^rchar: //p' /proc/$pid/io)
make_urls 1000 >&3
wait_until has_read "$((before + 1000))"
{
    kill -TERM $pid
    while has_signal $pid ShdPnd 15; do sleep 0.02; done
    kill -TERM $pid || echo "the first was enough"
    wait $pid
    echo "status $?"
} 2> /dev/null
