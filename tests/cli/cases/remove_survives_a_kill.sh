# What was committed stays removed, the state opens, and the same command once more completes it.
make_urls 200000 | sort -u > in
vidi -s full in > /dev/null
echo "-- removals that came a while ago are in the state, although the input goes on"
cp -r full st
mkfifo to
vidi remove st to > out &
exec 3> to
head -n 1000 in >&3
until [ "$(vidi has st <(head -n 1000 in) | wc -l)" -eq 0 ]; do sleep 0.05; done
{ kill -KILL $!; wait $!; } 2> /dev/null
exec 3>&-
cat out
vidi check -q st
vidi has st in | cmp - <(tail -n +1001 in)
vidi remove st in
vidi has -q st <(head -n 1 in)
echo "status $?"
echo "-- at random moments"
for turn in 1 2 3 4 5 6; do
    rm -rf st
    cp -r full st
    { vidi remove st in > out & } 2> /dev/null
    sleep "0.$(printf %02d $((RANDOM % 10)))$((RANDOM % 10))"
    { kill -KILL $!; wait $!; } 2> /dev/null
    vidi check -q st
    vidi remove -q st in
    vidi has st in | wc -l
done
echo "-- a signal ends it in good order"
rm -rf st
cp -r full st
{ head -n 1000 in; cat to; } | vidi remove st > out &
exec 3> to
until [ "$(vidi has st <(head -n 1000 in) | wc -l)" -eq 0 ]; do sleep 0.05; done
kill -TERM $!
exec 3>&-
wait $!
echo "status $?"
cat out
