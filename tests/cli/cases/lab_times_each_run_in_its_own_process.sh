# Each run of a timed study is a process of its own, which does not outlive the one that wants its times.
[ -e "/proc/$$/task/$$/children" ] || skip "this kernel does not list the children of a process"
lab=(vidi lab run thesis-A.4 --urls 1e7 --runs 6)

child_of()
{
    cat "/proc/$1/task/$1/children" 2> /dev/null
}

# A run is being measured by a process that is not this one.
measures()
{
    child=$(child_of "$1")
    child=${child% }
    [ "$child" ] && [ "$child" != "${2-}" ] && tr '\0' ' ' < "/proc/$child/cmdline" | grep -q 'lab one-run thesis-A.4 --run '
}

gone()
{
    ! kill -0 "$1" 2> /dev/null
}

# A process that is killed is an error that says so.
"${lab[@]}" > part 2> message &
wait_until measures $!
wait_until measures $! "$child"
echo "the second run has another process"
kill -KILL "$child"
wait $!
echo "status $?, $(wc -c < part) bytes printed"
cat message

# One that is interrupted takes its child with it, and so does one that is killed. The child is stopped, so that it
# cannot end by itself.
for signal in TERM KILL; do
    "${lab[@]}" --fresh > part 2> message &
    wait_until measures $!
    kill -STOP "$child"
    kill -$signal $!
    wait $! 2> /dev/null
    echo "status $?"
    sed 's/after [0-9]* of.*/after some runs/' message
    wait_until gone "$child"
    echo "the child is gone"
done

# What such a process prints, and what it says of nonsense.
vidi lab one-run thesis-5.15 --urls 1000 --run 2 | wc -l
try vidi lab one-run thesis-5.1
try vidi lab one-run
try vidi lab one-run streams-8 --urls 100

# A corpus is read again by every process, unless it cannot be.
vidi lab urls --urls 1000 > urls
vidi lab run thesis-5.15 --urls 500 --runs 2 --corpus urls --csv | wc -l
vidi lab run thesis-5.15 --urls 500 --runs 2 --corpus - --csv < urls | wc -l
vidi lab run thesis-5.1 --urls 500 --runs 2 --corpus - --csv < urls | wc -l
# That a file has this name, too, changes nothing.
: > ./-
vidi lab run thesis-5.15 --urls 500 --runs 2 --corpus - --csv < urls | wc -l
