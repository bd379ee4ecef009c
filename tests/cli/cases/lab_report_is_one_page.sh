# The page goes to standard output or to a file, which gets its name when it is whole; plots go beside it.
# Two reports of the same command differ only in how long it took.
without_duration() { sed -E 's|<dt>Duration</dt><dd>[^<]*||; s|about,duration,,,,[0-9.]+||' "$1"; }
vidi lab report counting-errors thesis-fig-5.1 --urls 1000 --runs 2 > page.html
vidi lab report counting-errors thesis-fig-5.1 --urls 1000 --runs 2 -o file.html --plots plots --tables tables.csv
cmp <(without_duration page.html) <(without_duration file.html)
ls . plots
head -n 1 page.html
tail -n 1 page.html
grep -oE '<(section|h1|h4|svg class="plot")[^>]*>' page.html | cut -c 1-60
grep -oE '<code>vidi lab report[^<]*' page.html
grep -oE '<dt>(Compiler|Processor|Cores|Memory|System|Duration)</dt>' page.html
grep -oE 'vidi [0-9.]+(, commit [0-9a-z-]+)?</dd>' page.html | sed -E 's/, commit [^<]*//'
grep -c '; vidi uses \|<dd>vidi uses ' page.html
# The data inside are those of --tables; their first lines are those that 'vidi lab run' prints.
grep -oE 'href="data:text/csv[^"]*' file.html | sed 's/.*utf-8,//; s/%\(..\)/\\x\1/g' | xargs -0 printf '%b' > link.csv
cmp tables.csv <(head -c -1 link.csv) && echo same data
vidi lab run counting-errors thesis-fig-5.1 --urls 1000 --runs 2 --csv > run.csv
cmp run.csv <(grep -v '^about,\|^claim,' tables.csv) && echo same cells
grep '^about,\(urls\|runs\|seed\)' tables.csv
grep -c '^claim,.*,too little was measured,,,$' tables.csv | grep -c ..
# What cannot be written leaves what was there.
try vidi lab report counting-errors --urls 1000 --runs 1 -o nowhere/page.html
try vidi lab report counting-errors --urls 1000 --runs 1 --plots nowhere/plots
try vidi lab report counting-errors --urls 1000 --runs 1 -o /dev/full
try vidi lab report nothing-at-all
try vidi lab report counting-errors --plots page.html
mkdir taken.html.new
echo before > taken.html
try vidi lab report counting-errors --urls 1000 --runs 1 -o taken.html
cat taken.html
# A pipe gets the page, and nothing that ends it before.
mkfifo pipe
timeout 600 cat pipe > piped.html &
timeout 600 vidi lab report counting-errors thesis-fig-5.1 --urls 1000 --runs 2 -o pipe
wait
cmp <(without_duration page.html) <(without_duration piped.html) && echo the same page
try vidi lab report counting-errors --urls 1000 --runs 1 -o plots
# The command can be given to a shell again, whatever the files are called.
make_urls 9000 > "it's <odd>.txt"
vidi lab report thesis-5.5 --urls 1000 --runs 1 --corpus "it's <odd>.txt" -o odd.html
command=$(grep -oE '<code>vidi lab report[^/]*</code>' odd.html | sed "s/<[^>]*>//g; s/&lt;/</; s/&gt;/>/; s/&#39;/'/g")
echo "$command"
cmp <(without_duration odd.html) <(eval "$command" | without_duration -) && echo "the same page"
