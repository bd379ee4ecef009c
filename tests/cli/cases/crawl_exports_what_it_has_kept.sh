# wacz makes one file of a crawl, extract a folder; both tell what they cannot do.
mkdir -p www/sub
printf '<title>Home &amp; more</title><a href=a.html>one</a> <a href=sub/b.html#x>two</a> <a href="http://other.invalid/">out</a>' > www/index.html
printf '<a href=/>home</a> <a href=missing.html>gone</a> <a href=mailto:a@b.c>m</a> <a href=#here>h</a> <img src=/sub/p.png>' > www/a.html
printf '<base href="/sub/"><a href="../a.html">one</a> <a href="#x">x</a>' > www/sub/b.html
printf 'PNG' > www/sub/p.png
start_site www
crawl -q --resources --state st "$site"
stop_site
port=$(echo "$site" | grep -oE '[0-9]+/$' | tr -d /)
hide() { sed "s/$port/PORT/g"; }
try vidi crawl wacz st -o st.wacz | sed -E 's/[0-9.]+ KiB/SIZE/'
stat -c '%a' st.wacz
ls st.wacz*
if command -v unzip > /dev/null; then
    unzip -tq st.wacz
    unzip -p st.wacz indexes/index.cdxj | cmp - <(vidi crawl cdxj st)
    unzip -p st.wacz pages/pages.jsonl | hide | sed -E 's/[0-9]{4}-[0-9-]*T[0-9:.]*Z/DATE/'
else
    skip "unzip is not installed"
fi
echo -- a mirror
try vidi crawl extract st --to m --rewrite | hide | sed -E 's/[0-9.]+ (KiB|B);/SIZE;/'
(cd m && find . -type f | sort | hide)
for file in a.html sub/b.html; do
    cat m/*/$file | hide
    echo
done
echo -- again, and as it came
try vidi crawl extract st --to m > said
cmp www/a.html m/*/a.html
echo -- what is refused
try vidi crawl wacz st
try vidi crawl wacz st -o www
try vidi crawl wacz nothing -o n.wacz
try vidi crawl wacz st -o no/such/n.wacz
try vidi crawl wacz st -o n.wacz --rewrite
try vidi crawl extract st
try vidi crawl extract st --to www
try vidi crawl extract st --to st.wacz
try vidi crawl extract st --to m -o n
try vidi crawl cdxj st --to m
try vidi crawl -s st2 --to m http://localhost/
try vidi crawl -s st2 -o n http://localhost/
ls
