urls a > in
cp in keep
mkfifo pipe
vidi -s st > /dev/null < in
for options in "-o -" "-o ." "-o pipe" "-o /dev/null" "-o in" "-s st -o in" "-s st -o st/out" "-s st -o st/../st/log.1" \
    "-o missing/out" "-s st -n -o out" "-s st -D -o out" "-o out --output-new" "-s st --output-new" "-s st -o ''"; do
    # shellcheck disable=SC2086
    eval try vidi $options in
done
try vidi -o keep - < keep
cmp in keep
ls -d out st/out 2> /dev/null
echo "-- a file that another process writes to"
exec 8>> out
flock 8
try vidi -o out in
try vidi -s st -o out in
: > err
vidi -s st -o out --wait <(urls b) 2> err 8>&- &
until grep -q waiting err; do sleep 0.02; done
exec 8>&-
wait $!
cat err out
