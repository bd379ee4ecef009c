# Each part of a crawl that is damaged, missing or of another time is found, and the crawl does not go on with it.
mkdir www
printf '<a href=a.html>a</a><a href=b.html>b</a>' > www/index.html
printf a > www/a.html
printf b > www/b.html
start_site www
crawl -q --state st --jsonl lines --max-pages 1 "$site"
cp -r st early
crawl -q --state st --jsonl lines "$site"
all_is_well() { vidi crawl check st | sed 's/, [0-9]* pages in the database//'; }
flip() { printf '\001' | dd of="$1" bs=1 seek="$2" conv=notrunc 2> /dev/null; }
all_is_well
{
    cp -r st kept
    again() { rm -rf st; cp -r kept st; }
    echo "-- the database"
    flip st/crawl.db 20000
    try vidi crawl check st | sed "s/1 of [0-9]* pages/1 of N pages/"
    try crawl -q --state st "$site"
    again
    echo "-- an older database"
    cp early/crawl.db st/crawl.db
    try vidi crawl check st
    try crawl -q --state st "$site"
    try crawl --rebuild-seen --state st -q "$site"
    all_is_well
    again
    echo "-- the archive"
    flip st/archive/vidi-00000.warc.gz 700
    vidi crawl check st 2>&1 | sed 's/byte [0-9]*/byte N/'
    again
    echo "-- the lines"
    sed -i '1s/html/HTML/' lines
    try vidi crawl check st
    echo "-- lines that others appended are not cut off"
    sed -i '1s/HTML/html/' lines
    echo mine >> lines
    try crawl -q --state st --jsonl lines "$site"
    tail -n 1 lines
    echo "-- what is not a crawl"
    try vidi crawl check nothing
    try vidi crawl check www
    ln -s loop loop
    try vidi crawl check loop
    try vidi crawl check
} 2>&1 | hide_site | sed "s#$PWD#PWD#"
stop_site
