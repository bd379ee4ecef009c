# Lines of files in their order and with their repeats, packed or not, with the ends of lines of any system.
make_urls 9000 > crawl.txt
{ cat crawl.txt; echo; echo "no URL"; echo "no URL"; } | sed 's/$/\r/' > other.txt
: > empty.txt
gzip -c crawl.txt > packed.txt.gz
vidi lab run streams-properties streams-canon --streams crawl.txt other.txt empty.txt packed.txt.gz
# Reading ends after as many lines as --urls says.
vidi lab run streams-properties --streams crawl.txt --urls 100 --csv
# The same numbers, whichever way the file is given.
vidi lab run streams-8 --runs 2 --streams crawl.txt --csv > one
vidi lab run --runs 2 --streams=crawl.txt --csv -- streams-8 > again
mkdir folder && gzip -c crawl.txt > folder/crawl.gz
vidi lab run streams-8 --runs 2 --csv --threads 1 --streams folder/* > packed
cmp one again && cmp one packed && grep -c streams-8,crawl one
# What stands in a report is the name of the file, without its folder.
vidi lab report streams-properties --streams folder/crawl.gz -o report.html
grep -o 'vidi lab report streams-properties.*gz' report.html
! grep -q folder report.html && ! grep -F "$(sed -n '5s|.*//\([^/]*\)/.*|\1|p' crawl.txt)" report.html
try vidi lab run streams-properties
try vidi lab run thesis-5.1 streams-8 --urls 100 --runs 1
try vidi lab claims streams-repeats --urls 100 --runs 1
vidi lab claims streams-repeats --streams crawl.txt --runs 1 | head -n 1
vidi lab run 'streams-*' --streams crawl.txt --runs 1 --csv | cut -d , -f 1 | sed 1d | uniq
try vidi lab run streams-properties --streams empty.txt
try vidi lab run streams-properties --streams nothing
try vidi lab run streams-properties --streams crawl.txt --corpus other.txt packed.txt.gz
try vidi lab cell --streams crawl.txt
vidi lab show streams-canon
