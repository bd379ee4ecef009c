#!/bin/bash
# tools/lab_report.sh VIDI [OPTION...]: runs the whole lab. Writes its page to build/lab, its figures and some plots to
# docs/lab, and docs/LAB.md from LAB.in.md.
# The studies of real URLs and of real links read the files of VIDI_TESTDATA; LAB.in.md needs their figures.
set -euo pipefail
cd "$(dirname "$0")/.."
vidi=$1
shift
data=${VIDI_TESTDATA:?"must name the folder with the files that the studies of real URLs and links read"}

page=build/lab/index.html plots=build/lab/plots links=build/lab/links.tsv
mkdir -p build/lab
zstdcat "$data/conformance/html_pages_A_links.jsonl.zst" |
    jq -r '.page_url as $page | .links[] | select(.[0] == "a") | [$page, .[2]] | @tsv' >"$links"
streams=()
for file in "$data"/corpus/*.txt.zst; do
    streams+=(--streams "$file")
done

"$vidi" lab report "$@" "${streams[@]}" --graph "$links" -o "$page" --tables docs/lab/tables.csv \
    --plots "$plots" --fill lab/report/LAB.in.md=docs/LAB.md
cp "$plots"/{thesis-5.9,kinds-recrawl,peers-lost,revisits-churn-10}.svg docs/lab/
echo "The report is $page; docs/lab and docs/LAB.md have its figures."
