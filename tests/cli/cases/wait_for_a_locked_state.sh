hide_process()
{
    sed 's/process [0-9]*/process N/'
}

# Starts a command that waits for `st`, and goes on when it says so.
waiting()
{
    : > err
    "$@" > out 2> err < in 9>&- &
    until grep -q waiting err; do sleep 0.02; done
    hide_process < err
}

urls a b > in
urls c | vidi -s st --kind hashset > /dev/null
urls c | vidi -s other --kind hashset > /dev/null
echo "-- without --wait it is an error that says what to do"
hold st
try vidi -s st in | hide_process
try vidi remove st in | hide_process
try vidi rotate st | hide_process
try vidi snapshot st | hide_process
try vidi merge st other | hide_process
let_go
rm st.gate st.held
echo "-- with --wait they go on when the state is free"
for command in "-s st --wait" "merge --wait st other" "remove --wait st" "snapshot --wait st" "rotate --wait st"; do
    hold st
    # shellcheck disable=SC2086
    waiting vidi $command
    let_go
    sed 's/snapshot of.*/…/' out
    rm st.gate st.held
done
echo "-- a state that is free is not waited for"
try vidi -s st --wait in
try vidi -s new --wait in
echo "-- signals end the waiting"
set -m # background jobs listen to SIGINT only so
hold st
for command in "-s st --wait" "remove --wait st" "rotate --wait st"; do
    for signal in INT TERM; do
        # shellcheck disable=SC2086
        waiting vidi $command > /dev/null
        { kill -$signal $!; wait $!; } 2> /dev/null
        echo "$command: status $?"
    done
done
let_go 2> /dev/null
echo "-- options that make no sense with it"
try vidi --wait in
try vidi -n -s st --wait in
