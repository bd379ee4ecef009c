mkfifo to
vidi --progress < to > out 2> err &
exec 3> to
printf '%s\n' a b a >&3
wait_until grep -qs lines err
exec 3>&-
wait $!
tr '\r' '\n' < err | grep '3 lines' | tail -n 1 | sed -E 's/[0-9.]+[kM]?\/s/N\/s/; s/[0-9.]+ [KM]iB/M/; s/[0-9.e-]+ lost/L lost/; s/\x1b\[K/ERASE/'
# Neither a file nor a pipe asks for it.
vidi out > /dev/null
