# Its output is stuck; the first signal waits for that, the second does not.
make_urls 100000 > in
mkfifo from
vidi --threads 3 in > from &
exec 4< from
sleep 0.3
{
    kill -TERM $!
    sleep 0.3
    kill -0 $! && kill -TERM $!
    wait $!
    echo "status $?"
} 2> /dev/null
