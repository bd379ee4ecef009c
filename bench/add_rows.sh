#!/bin/bash
# bench/add_rows.sh JSON NAME: puts the rows on standard input, one JSON object a line, into the array in the file JSON,
# in place of those that have this name there; NAME is a pattern of grep. The file is made if it is missing. Lines of
# standard input may also be those of such an array.
set -eu

# Only the objects: no brackets around them, and no commas before or after them.
objects() {
    sed -n 's/^,*\({.*}\)[],]*$/\1/p'
}

json=$1 name=$2
old=$(mktemp)
new=$(mktemp)
trap 'rm -f "$old" "$new"' EXIT
if [ -s "$json" ]; then
    cp "$json" "$old"
fi
{
    objects < "$old" | grep -v "\"name\":\"$name\"" || true
    objects
} | {
    echo '['
    sed '$!s/$/,/'
    echo ']'
} > "$new"
cat "$new" > "$json"
