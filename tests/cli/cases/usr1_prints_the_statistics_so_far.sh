mkfifo to
vidi < to > out 2> err &
exec 3> to
printf '%s\n' a b a >&3
has_lines() { [ -e out ] && [ "$(wc -l < out)" -eq "$1" ]; }
wait_until has_lines 2
kill -USR1 $!
wait_until grep -qs epoch err
grep -E '^(lines|new|seen)' err
exec 3>&-
wait $!
echo "status $?"
