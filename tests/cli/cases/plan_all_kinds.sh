# Every answer keeps what was asked. The sizes are the library's; here are bounds that none can escape.
command -v jq > /dev/null || skip "jq is missing"
vidi plan --urls 1e9 --lost 1 > table
head -n 1 table | tr -s ' '
vidi plan --urls 1e9 --lost 1 --json > json
[ "$(jq length json)" = "$(($(sed '/^$/q' table | wc -l) - 2))" ] && echo "one line a kind"
check()
{
    if [ "$(jq "$2" json)" = true ]; then
        echo "$1"
    else
        echo "NOT: $1"
        jq -c '.[] | [.kind, .params, .bytes, .error, .expected_lost]' json
    fi
}
check "the least memory times lines first" 'map(.bytes_per_url * (.lines_per_url | round)) | . == sort'
check "the first is chosen" 'map(.chosen) == [true] + (.[1:] | map(false))'
check "for all the URLs" 'all(.urls >= 1e9)'
check "no more pages lost than asked" 'all(.expected_lost <= 1)'
check "nothing lost without error, no error without loss" 'all((.expected_lost == 0) == (.error == 0))'
check "an error rate that fits the loss" 'all(.error * .urls < 100)'
check "no smaller than information allows" 'all(.error == 0 or .bytes_per_url * 8 >= -(.error | log2))'
check "classic among them" 'map(.kind) | index("classic") != null'
