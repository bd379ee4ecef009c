# The rest differs from run to run.
settle()
{
    sed -E -e "s/$pid/PID/" -e 's/for 0:00:[0-9]+/for TIME/' -e 's/^(lines +[0-9,]+,) .*/\1 RATES/' \
        -e 's/^(fill +)[#.]+ [0-9.]+ %/\1FILL/' -e 's/^(memory +).*/\1M/' -e 's/^(pages lost +).*/\1L/' \
        -e 's/^(each second ).*/\1MARKS/' -e 's/"(seconds|urls_per_second|urls_per_second_now|fill)":[0-9.e+-]+/"\1":0/g' \
        -e 's/"(memory_bytes|expected_lost|error_now)":[0-9.e+-]+/"\1":0/g' -e 's/"lines_each_second":\[[0-9,]*\]/"lines_each_second":[]/'
}
mkfifo to
vidi -s st < to > out &
pid=$!
exec 3> to
urls a b c a >&3
shows()
{
    vidi top --once --json st 2> /dev/null | grep -q "$1"
}
wait_until shows '"read":4,'
ls st | sed 's/\..*//' | sort -u
stat -c '%a %s' st/live
tail -c 1 st/live | od -An -c
vidi top --once st | settle
vidi top --once --state st --json | settle
vidi top st | settle | head -n 1
echo "-- after some seconds there are marks"
wait_until shows '"lines_each_second":\[[0-9]*,[0-9]'
vidi top --once st | grep -c '^each second [_.:=+*#-]* up to'
LC_ALL=C.UTF-8 vidi top --once st | grep -cE '^each second (▁|▂|▃|▄|▅|▆|▇|█)+ up to'
echo "-- others may have it open"
vidi info st | grep ^URLs
vidi has st <(urls a)
vidi check -q st
exec 3>&-
wait $pid
echo "-- and at the end it is gone"
ls st | sed 's/\..*//' | sort -u
vidi top --once st | head -n 1
