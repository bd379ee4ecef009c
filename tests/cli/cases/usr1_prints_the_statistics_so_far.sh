mkfifo to
vidi < to > out 2> err &
exec 3> to
printf '%s\n' a b a >&3
until [ "$(wc -l < out)" -eq 2 ]; do sleep 0.05; done
kill -USR1 $!
until grep -q epoch err; do sleep 0.05; done
grep -E '^(lines|new|seen)' err
exec 3>&-
wait $!
echo "status $?"
