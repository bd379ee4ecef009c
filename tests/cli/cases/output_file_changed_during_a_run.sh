# Somebody else changes or deletes the output file while it is written: nothing more is committed.
mkfifo pipe
begin()
{
    rm -rf st out
    vidi -s st -o out < pipe &
    pid=$!
    exec 3> pipe
    urls a >&3
    wait_until test -s out
}
finish()
{
    urls b >&3
    exec 3>&-
    wait $pid
    echo "status $?"
    vidi has st <(urls b)
}
echo "-- longer"
begin
echo "of another program" >> out
finish
cat out
echo "-- shorter"
begin
: > out
finish
echo "-- deleted"
begin
rm out
finish
echo "-- renamed: it is still there"
begin
mv out moved
finish
cat moved
try vidi -s st -o moved <(urls b c)
cat moved
