urls a b | vidi -s st > out
try vidi top --once st | hide_times | hide_fill
vidi top --once --json st | hide_times | hide_fill
echo "-- left by a process that was killed"
mkfifo to
vidi -s st < to > out &
exec 3> to
urls c >&3
wait_until test -e st/live
{ kill -KILL $!; wait $!; } 2> /dev/null
exec 3>&-
ls st | grep live
vidi top --once st | head -n 1
echo "-- the next run removes it"
urls d | vidi -s st > out
ls st | grep live
echo "-- something else of that name"
mkdir st/live
vidi top --once st | head -n 1
: > drawn
{ urls e; wait_until grep -qs lines drawn; } | vidi --progress -s st 2> drawn
vidi check -q st
rmdir st/live
ln -s /etc/passwd st/live
vidi top --once st | head -n 1
rm st/live
echo "-- what cannot be shown"
try vidi top
try vidi top --once a b
try vidi top --once --state st st
try vidi top --json st
try vidi top --once nosuch
try vidi top --once out
try vidi top --once -
try vidi top --once --color often st
