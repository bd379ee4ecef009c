# Killed at its first call to the system, at its second, and so on: what is seen is in the file, and the next run makes
# the file what it would be without the kill.
calls=openat,read,pread64,write,pwrite64,fsync,fdatasync,ftruncate,flock,rename,renameat,unlink,mkdir,newfstatat,close
killed_at() # N COMMAND...: each thread dies at its Nth call of each sort
{
    local n=$1
    shift
    { strace -f -qq -o /dev/null -e trace=$calls -e inject=$calls:signal=KILL:when="$n" "$@"; } 2> /dev/null
}
killed_at 1 true
[ $? -eq 137 ] || skip "strace cannot be used here"
make_urls 300 > in
first_only in > exact
for begin in nothing torn; do
    for ((n = 1, status = 137; status == 137; n++)); do
        rm -rf st out
        if [ $begin = torn ]; then
            head -n 100 in | vidi -s st -o out
            as_if_killed st
            printf 'http://torn.exa' >> out
        fi
        killed_at $n vidi --threads 1 -s st -o out in
        status=$?
        [ ! -d st ] || vidi has st exact 2> /dev/null | grep -vxFf <(cat out 2> /dev/null)
        vidi -s st -o out in 2> err || cat err
        cmp out exact
    done > log 2>&1
    grep -v Killed log
    [ $n -gt 20 ] || echo "killed only $n times"
done
