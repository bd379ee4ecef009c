# Starts a command that finds no state, and then reads the set `gate`. Goes on when it does so.
begin()
{
    "$@" > out 2> err 9>&- &
    begun=$!
    exec 8> gate
}

# Lets it go on, and the holder of the state when it waits for that.
finish()
{
    cat exported >&8
    exec 8>&-
    wait_until waits_or_ended
    exec 9>&-
    wait $begun
    echo "status $?"
    sed 's/process [0-9]*/process N/' err out
}

waits_or_ended() { grep -qs waiting err || ! kill -0 $begun 2> /dev/null; }

urls a b > in
urls x | vidi -s like > /dev/null
vidi export like exported
mkfifo gate
for state in free held; do
    urls a | vidi -s $state --like like > /dev/null
done
echo "-- a state that another process makes in between is opened"
begin vidi -s one --wait --like gate in
mv free one
finish
echo "-- and waited for while that process uses it"
hold held
begin vidi -s two --wait --like gate in
mv held two
finish
echo "-- a merge goes on with such a set, too"
begin vidi merge --wait three gate
mv one three
finish
rm held.gate held.held
mv two held
hold held
begin vidi merge --wait four gate
mv held four
finish
echo "-- other files are refused"
mkdir other
: > other/file
try vidi merge --wait other like
mv other/file other/log.text
try vidi -s other --wait in
echo "-- six starts at once"
for i in 1 2 3 4 5 6; do
    vidi -s six --wait in > "out.$i" 2> /dev/null &
    all[i]=$!
done
for i in 1 2 3 4 5 6; do
    wait "${all[i]}" || echo "status $?"
done
sort out.?
