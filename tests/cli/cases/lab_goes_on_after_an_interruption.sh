# Finished runs are kept, and in the end the numbers are those of a command that nobody interrupted.
export XDG_CACHE_HOME=$PWD/cache
lab=(vidi lab run thesis-5.9 --urls 1000 --runs 400 --threads 2 --raw)

grown()
{
    [ "$(cat cache/vidi/lab-* 2> /dev/null | wc -c)" -gt "$1" ]
}

# Starts it and ends it with a signal when the file of finished runs has so many bytes, and more than before: then it
# measures, and takes signals.
interrupt()
{
    local before
    before=$(cat cache/vidi/lab-* 2> /dev/null | wc -c)
    "${lab[@]}" > part 2> message &
    wait_until grown "$((before > $2 ? before : $2))"
    kill "-$1" $!
    wait $! 2> /dev/null
    echo "status $?, $(wc -c < part) bytes printed"
    sed 's/after [0-9]* of/after some of/' message
}

"${lab[@]}" > whole
find cache -type f | wc -l
interrupt KILL 30000
interrupt TERM 80000
find cache -type f | wc -l
"${lab[@]}" > rest
cmp whole rest && echo "the same"
find cache -type f | wc -l

# What is in the file is not trusted.
interrupt TERM 50000
damage cache/vidi/lab-* 20000
"${lab[@]}" 2> message > rest
sed 's/lab-[0-9a-f]*/lab-*/; s|/.*/cache|cache|' message
cmp whole rest && echo "the same"

# Nor is it needed.
interrupt TERM 50000
"${lab[@]}" --fresh > rest
cmp whole rest && echo "the same"
find cache -type f | wc -l
XDG_CACHE_HOME='' HOME=/dev/null "${lab[@]}" --runs 3 | wc -l
XDG_CACHE_HOME=/proc/none "${lab[@]}" --runs 3 | wc -l

# Where there is no more room, some are kept, and that is said.
lab=(vidi lab run thesis-5.9 --urls 1000 --runs 20000 --threads 2 --raw)
(
    trap '' XFSZ
    ulimit -f 30
    exec "${lab[@]}" > part 2> message
) &
wait_until grown 30719 # the limit
kill -TERM $!
wait $! 2> /dev/null
sed 's/after [0-9]* of/after some of/' message
