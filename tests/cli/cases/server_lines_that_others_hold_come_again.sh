# A URL that another client has claimed is neither printed twice nor lost, whatever becomes of that client.
start_server
a=redis://$server/crawl
port=${server##*:}
key=
# In the name of somebody else.
other() # COMMAND WORD...
{
    local command=$1
    shift
    redis-cli -p "$port" "VIDI.$command" "$key" other "$@" > /dev/null
}
{
    vidi init "$a"
    key=$(redis-cli -p "$port" --scan --pattern '{crawl:*')
    echo "-- held, and handed on by the other one: its line waits, all others are printed"
    other CLAIM 60000 URLS http://b.example/ ''
    urls a b c > in
    vidi -s "$a" in > out &
    wait_until grep -qs http://c out
    other COMMIT URLS http://b.example/
    wait $!
    cat out
    echo "-- held, and given up"
    other CLAIM 60000 URLS http://e.example/ ''
    urls d e f > in
    vidi -s "$a" --field 1 --delimiter ' ' in > out &
    wait_until grep -qs http://f out
    other RELEASE URLS http://e.example/
    wait $!
    cat out
    echo "-- the input goes on, and stands still"
    other CLAIM 60000 URLS http://g.example/ ''
    mkfifo gate
    vidi -s "$a" < gate > out &
    exec 9> gate
    urls g h >&9
    wait_until grep -qs http://h out
    other RELEASE URLS http://g.example/
    wait_until grep -qs http://g out
    exec 9>&-
    wait $!
    cat out
    echo "-- an answer is wanted at once"
    other CLAIM 60000 URLS http://i.example/ ''
    urls i j | try vidi -s "$a" --print verdict
    echo "-- what a run prints is committed by then"
    vidi info --json "$a" | jq -c '[.count, .claims]'
} 2>&1 | hide_server
stop_server
