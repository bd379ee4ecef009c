# At random moments: every URL that the state has seen is in the output, and no line is half-written.
lines=200000 longest=10
[ -z "${VIDI_TEST_LONG-}" ] || lines=3000000 longest=99 # so that some is committed on the way
make_urls $lines > in
first_only in > exact
set -m # background jobs listen to SIGINT only so
for turn in 1 2 3 4 5 6 7 8 9 10 11 12; do
    signal=$([ $((turn % 3)) -eq 0 ] && echo KILL || { [ $((turn % 3)) -eq 1 ] && echo TERM || echo INT; })
    { : > begun$turn; cat in; sleep infinity; } | vidi -s st$turn > out$turn &
    # The shell loses a signal that comes while it starts a process.
    wait_until [ -e begun$turn ]
    wait_until [ -e out$turn ]
    sleep "0.$(printf %02d $((RANDOM % longest)))$((RANDOM % 10))"
    kill -$signal %%
    wait %%
    status=$?
    case $signal:$status in KILL:137 | TERM:143 | INT:130) ;; *) echo "$signal: status $status" ;; esac
    [ $signal = KILL ] || cmp -n "$(stat -c %s out$turn)" exact out$turn
    [ $signal = KILL ] || [ -z "$(tail -c 1 out$turn)" ] || echo "half a line"
    vidi has st$turn exact > seen 2> /dev/null || [ $? -eq 1 ] || : # the signal came before there was a state
    sort -u out$turn | comm -13 - <(sort -u seen) | wc -l | grep -vx 0
    # And nothing is lost: both runs together have everything.
    [ $signal = KILL ] || vidi -s st$turn in 2>&1 | cat out$turn - | cmp - exact
done 2> /dev/null
echo done
