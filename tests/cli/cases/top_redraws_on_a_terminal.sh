command -v script > /dev/null || skip "there is no script(1)"
export TERM=xterm NO_COLOR=1
urls a b | vidi -s st > out
: > drawn
script -qefc 'echo $$ > pid; exec vidi top st' drawn < /dev/null > /dev/null &
watcher=$!
drew() # how often, what
{
    [ "$(grep -c "$2" drawn)" -ge "$1" ]
}
last_is_saved()
{
    grep -oE 'saved set|process' drawn | tail -n 1 | grep -q saved
}
wait_until drew 2 'is running on it'
# A run begins while it is being watched, and ends.
mkfifo to
vidi -s st < to > out &
exec 3> to
urls a b c >&3
wait_until drew 1 process
exec 3>&-
wait $!
wait_until last_is_saved
kill -INT "$(cat pid)"
wait $watcher
echo "status $?"
tr -d '\r' < drawn | sed 's/\x1b/ESC/g; s/^memory.*/memory/' | hide_fill | grep -m 2 -A 5 'saved set'
echo "-- a key ends it"
: > drawn
{ wait_until drew 2 'is running on it'; printf q; } | script -qefc 'vidi top st' drawn > /dev/null
echo "status $?"
echo "-- what is too wide is cut off"
: > drawn
{ wait_until drew 2 'st: no '; printf q; } | script -qefc 'stty cols 30; vidi top st' drawn > /dev/null
tr -d '\r' < drawn | sed 's/\x1b/ESC/g' | grep -m 2 'st: no '
