# A signal interrupts every second call that writes, syncs, truncates or creates a file. Nothing may come of that.
fate=$VIDI_BUILD/tests/libfate.so
[ -e "$fate" ] || skip "libfate is not built"
make_urls 3000 > in
interrupted() # COMMAND...
{
    LD_PRELOAD=$fate VIDI_FATE="14 3 1" "$@"
    echo "status $?"
}

interrupted vidi -s st -o out in
first_only in | cmp - out
interrupted vidi -s st --sync always -o out in
first_only in | cmp - out
interrupted vidi snapshot st > told; tail -n 1 told
interrupted vidi export st set.vidi
interrupted vidi import copy set.vidi > told; tail -n 1 told
vidi has -v copy in
printf '<a href=1.html>one</a>' > index.html
printf end > 1.html
mkdir www && mv ./*.html www
start_site www
# Of a crawl, only the calls to one of its files: SQLite gives up if a sync of its database is interrupted.
for file in site.jsonl site/archive/vidi-00000.warc.gz; do
    rm -rf site*
    for i in 1 2; do
        LD_PRELOAD=$fate VIDI_FATE="14 1 1" VIDI_FATE_OUTPUT=$file crawl -q --state site --jsonl site.jsonl "$site"
        echo "status $?"
    done
    wc -l < site.jsonl
    vidi crawl check site | sed "s/, [0-9]* pages in the database//"
done
stop_site
