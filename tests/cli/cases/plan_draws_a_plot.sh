try vidi plan --urls 1e9 --lost 1 --plot
echo "-- one kind"
vidi plan --kind classic --urls 1e6 --memory 2M --plot
echo "-- those that lose nothing"
vidi plan --kind hashset --urls 1e6 --plot
echo "-- in colours"
vidi plan --kind classic --urls 1e6 --memory 2M --plot --color always | sed 's/\x1b/ESC/g' | tail -n 1
echo "-- on a terminal, if it has room"
on_terminal()
{
    TERM=xterm script -qec "stty cols $1; NO_COLOR=$2 vidi plan --kind classic --urls 1e6 --memory 2M ${*:3}" /dev/null < /dev/null |
        tr -d '\r' | sed 's/\x1b/ESC/g' | tail -n +3
}
on_terminal 40 1 > drawn
cat drawn
awk 'length > 40 { print "too wide" }' drawn
on_terminal 20 1
on_terminal 80 1 --no-plot
on_terminal 80 '' | tail -n 1
echo "-- neither in a pipe nor without sense"
vidi plan --kind classic --urls 1e6 --memory 2M | wc -l
try vidi plan --urls 1e6 --lost 1 --plot --json
try vidi plan --urls 1e6 --lost 1 --plot --no-plot
try vidi plan --urls 1e6 --lost 1 --color often
