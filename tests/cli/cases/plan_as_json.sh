# Five digits are enough: the last ones are the mathematics library's.
try vidi plan --kind classic --urls 1e6 --lost 1 --json | sed -E 's/([0-9]\.[0-9]{5})[0-9]+/\1/g'
command -v jq > /dev/null || exit 0
vidi plan --kind classic --urls 1e6 --lost 1 --json |
    jq -c '.[0] | keys_unsorted, (.bytes / .urls - .bytes_per_url | fabs < 1e-9)'
