# What is in the output file is on disk before the state hears of it: the file is synced between its last write and the
# next write to the log, and its folder before its first byte.
traced() # OPTION...: the calls on the file, its folder and the log, in order
{
    strace -f -y -qq -o trace -e trace=write,fsync vidi "$@" -s st -o folder/out in
    sed -nE 's/^[0-9]+ +(write|fsync)\([0-9]+<[^>]*\/(out|log\.[0-9a-f]+|folder)>.*/\1 \2/p' trace | sed 's/log\..*/log/'
}
strace -f -y -qq -o trace true 2> /dev/null || skip "strace cannot be used here"
make_urls 300 > in
mkdir folder
judge()
{
    awk '$0 == "fsync folder" { folder = 1 }
         $0 == "write out" { if (!folder) print "the folder was not synced before"; dirty = 1; wrote++ }
         $0 == "fsync out" { dirty = 0; synced++ }
         $0 == "write log" { if (dirty) print "the log was written before the output was synced"; logged++ }
         END { print (wrote ? "written" : "not written"), (synced ? "synced" : "not synced"), (logged ? "logged" : "not logged") }'
}
for sync in everysec always; do
    rm -rf st folder/out
    traced --sync $sync | judge
done
echo "-- and not, if the user wants no syncs"
rm -rf st folder/out
traced --sync never | grep -c -e 'fsync out' -e 'fsync folder' || true
