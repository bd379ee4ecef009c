#!/bin/bash
# docs/PAPERS.md maps the papers to what vidi has. Everything that it names exists: experiments, claims, kinds,
# commands, functions, files and sections of other pages. And it names every experiment on the four papers.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

page=$VIDI_SOURCE/docs/PAPERS.md
"$VIDI_BUILD/vidi" lab list | awk '{print $1}' >"$tmp/experiments"
awk -F, '$1 == "claim" {print $2}' "$VIDI_SOURCE/docs/lab/tables.csv" >"$tmp/claims"
"$VIDI_BUILD/vidi" kinds --json | jq -r '.[].kind' >"$tmp/kinds"
grep -o '`[^`]*`' "$page" | tr -d '`' | sort -u >"$tmp/names"

# Prints the names that match the pattern and are not in the list; fails if there are any: missing_from LIST PATTERN
missing_from() {
    ! grep -E "$2" "$tmp/names" | grep -vxF -f "$tmp/$1"
}

experiments_and_claims_exist() {
    sort -u "$tmp/experiments" "$tmp/claims" >"$tmp/both"
    missing_from both '^(thesis|further|multilayer|counting|eigen|kinds|streams|peers|graph|revisits|large)-[A-Za-z0-9.-]+$'
}

# What follows the word "kind" or "kinds".
kinds_exist() {
    grep -oE 'kinds? `[a-z]+`(, `[a-z]+`)*( and `[a-z]+`)?' "$page" | grep -o '`[a-z]*`' | tr -d '`' | sort -u >"$tmp/named"
    [ -s "$tmp/named" ] && ! grep -vxF -f "$tmp/kinds" "$tmp/named"
}

commands_exist() {
    local name
    while read -r _ name _; do
        case $name in
        '' | '<' | --*) ;;
        *) "$VIDI_BUILD/vidi" "$name" --help >/dev/null || return 1 ;;
        esac
    done < <(grep '^vidi\( \|$\)' "$tmp/names")
}

functions_exist() {
    local name
    while read -r name; do
        grep -rqw "$name" "$VIDI_SOURCE/include/vidi" || { echo "$name is not in the interface"; return 1; }
    done < <(grep -E '^vidi_[a-z_]+$' "$tmp/names")
}

files_exist() {
    local name
    while read -r name; do
        [ -e "$VIDI_SOURCE/$name" ] || { echo "there is no $name"; return 1; }
    done < <(grep -E '^[a-z]+/[a-z_/.]+$' "$tmp/names")
}

# The anchors of a page's headings, as GitHub makes them.
anchors() {
    sed -n 's/^##* //p' "$1" | tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

links_lead_somewhere() {
    local link file anchor
    while read -r link; do
        file=${link%%#*}
        file=${file:-PAPERS.md}
        [ -f "$VIDI_SOURCE/docs/$file" ] || { echo "there is no docs/$file"; return 1; }
        [ "$link" = "$file" ] && continue
        anchor=${link#*#}
        anchors "$VIDI_SOURCE/docs/$file" | grep -qxF "$anchor" || { echo "no section $link"; return 1; }
    done < <(grep -oE '\]\([^)]*\)' "$page" | sed 's/^](//; s/)$//')
}

papers_are_complete() {
    ! grep -E '^(thesis|further|multilayer|counting|eigen)-' "$tmp/experiments" | grep -vxF -f "$tmp/names"
}

words_are_there() {
    local word
    for word in temporal spatial spatio-temporal focused broad continuous freshness 'decision mechanism' distributed \
        genetic 'fill ratio' 'false negative' 'bit-size multiplier'; do
        grep -qF "$word" "$page" || { echo "nothing about: $word"; return 1; }
    done
}

check 'its experiments and claims exist' experiments_and_claims_exist
check 'its kinds exist' kinds_exist
check 'its commands exist' commands_exist
check 'its functions exist' functions_exist
check 'its files exist' files_exist
check 'its links lead somewhere' links_lead_somewhere
check 'it names every experiment on the four papers' papers_are_complete
check "it has the papers' words" words_are_there
finish
