# A template is filled after measuring, or later with the same figures; what it cannot name is said before.
cat > page.in.md <<'END'
# Figures

With {{thesis-fig-5.1|3 HF|same order|runs}} runs of {{about urls}} URLs theory gives {{thesis-fig-5.1|3 HF|same
order|theory|2}} %, and {{thesis-fig-5.1|3 HF|same order|published}} % were published: {{count agrees thesis-fig-*}} agree.

| k | theory |
|--:|--:|
| 6 | {{thesis-fig-5.1|6 HF|same order|theory}} |
END
vidi lab show thesis-fig-5.1 | head -n 5
vidi lab report thesis-fig-5.1 --urls 1000 --runs 2 -o page.html --tables tables.csv --fill page.in.md=page.md
cat page.md
vidi lab fill page.in.md tables.csv -o later.md
cmp page.md later.md && echo the same later
vidi lab fill page.in.md tables.csv | cmp - page.md && echo the same on standard output
# A cell that exists but was not measured is found afterwards, when report and figures are there.
printf '{{thesis-5.5|Jenkins|FP}}\n' > other.in.md
try vidi lab report thesis-fig-5.1 --urls 1000 --runs 2 -o other.html --tables other.csv --fill other.in.md=other.md
cmp <(grep -v duration other.csv) <(grep -v duration tables.csv) && echo figures are there
grep -c '</html>' other.html
# Nothing is measured for a text that cannot be filled, and all of its faults are named at once.
printf 'a\n{{thesis-5.9|3 HF|9 M}}\n{{no-such|a|b}}\n' > wrong.in.md
try vidi lab report --runs 1e6 --urls 4e9 --fill wrong.in.md=wrong.md
try vidi lab report --fill page.in.md
try vidi lab report --fill absent.in.md=x.md
try vidi lab report --fill page.in.md=nowhere/x.md
try vidi lab fill page.in.md
try vidi lab fill page.in.md absent.csv
try vidi lab fill page.in.md page.in.md
try vidi lab fill wrong.in.md tables.csv
try vidi lab run --fill page.in.md=page.md
# Nothing takes the place of what it was made from, or of something else that was asked for.
try vidi lab report thesis-fig-5.1 --fill page.in.md=page.in.md
try vidi lab report thesis-fig-5.1 -o one.html --tables one.html
try vidi lab report thesis-fig-5.1 --tables ./one.csv --fill page.in.md=page.md --fill page.in.md=./page.md
try vidi lab fill page.in.md tables.csv -o ./page.in.md
try vidi lab fill page.in.md tables.csv -o tables.csv
vidi lab report thesis-fig-5.1 --urls 1000 --runs 2 -o /dev/null --tables /dev/null
ls
