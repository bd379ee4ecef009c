mkdir www
printf '<meta charset=utf-8><a href=/gone>a &lt;b&gt; &amp; "c"</a> <a href=/gone>\xe2\x80\xae\x01\xc2\x85\xef\xbf\xbe]]&gt;</a> <a href=a.html#x>x</a>' > www/index.html
printf '<a href="/gone">more</a> <a href="/private">no</a>' > www/a.html
printf 'User-agent: *\nDisallow: /private\n' > www/robots.txt
start_site www
host=${site#http://}
show()
{
    hide_site < "$1" | sed -E -e "s,${host%/},site,g" -e 's/time="[0-9.]+"/time="0"/' -e 's/ +>/>/'
}
well_formed()
{
    if command -v xmllint > err; then
        xmllint --noout "$1"
    fi
}
crawl -q --check --fragments --junit result.xml --state state "$site" > text
echo "[status $?]"
show result.xml
well_formed result.xml
echo -- a later report writes the same
vidi crawl report --junit again.xml state > text
cmp result.xml again.xml && echo same
ls
echo -- the numbers in its head are those of its cases
for name in testcase failure skipped; do
    echo "$(grep -o "<$name" result.xml | wc -l) $name"
done
echo -- a check without faults has no failures
rm www/a.html www/robots.txt
echo 'nothing' > www/index.html
crawl -q --check --junit result.xml "$site"
show result.xml
well_formed result.xml
echo -- what cannot be written is found out before the crawl
mkdir folder
for file in folder missing/result.xml /dev/null; do
    try crawl --check --junit "$file" "$site" | hide_site
done
try crawl --junit other.xml "$site" | hide_site
crawl -q --state plain "$site"
try vidi crawl report --junit other.xml plain
ls
stop_site
echo -- a seed that cannot be fetched is a failure, too
crawl -q --retries 0 --check --junit result.xml "$site" > text 2>&1
echo "[status $?]"
grep -c '<failure message="connect' result.xml
echo -- a file that cannot be completed is left as it was
before=$(cksum result.xml)
mkdir result.xml.new
try vidi crawl report --junit result.xml state
[ "$before" = "$(cksum result.xml)" ] && echo same
