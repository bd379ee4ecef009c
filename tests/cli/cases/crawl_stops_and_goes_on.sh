mkdir www
for i in 1 2 3 4 5 6 7 8 9; do
    printf '<a href=%s.html>next</a>' $((i + 1)) > www/$i.html
done
printf '<a href=1.html>begin</a>' > www/index.html
printf end > www/10.html
start_site www
set -m # background jobs listen to SIGINT only so
{ # the shell tells of its jobs
for signal in INT TERM KILL; do
    vidi crawl -q --allow-net loopback --delay 1 --state $signal --jsonl $signal.jsonl "$site" &
    wait_until grep -q '"status"' $signal.jsonl 2> /dev/null
    crawl --state $signal "$site" 2>&1 | sed 's/process [0-9]*/process N/' # one crawl at a time
    kill -$signal $!
    wait $!
    echo "$signal: status $?"
    # The same command goes on.
    crawl -q --state $signal --jsonl $signal.jsonl "$site"
    jq -r .url $signal.jsonl | sort | uniq -c | awk '$1 != 1' | hide_site
    jq -r .status $signal.jsonl | sort | uniq -c
    vidi crawl report --json $signal | jq -c '[.urls, .fetched, .failed, .queue]'
done
vidi crawl --allow-net loopback --delay 1 --state INT2 "$site" 2> err &
wait_until test -s INT2/crawl.db
wait_until sh -c 'vidi crawl report --json INT2 2> /dev/null | grep -q "\"fetched\":1"'
kill -INT $!
wait $!
echo "status $?"
grep ^left err
stop_site
} 2> /dev/null
