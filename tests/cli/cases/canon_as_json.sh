command -v jq > /dev/null || skip "jq is missing"
printf '%s\n' 'HTTP://Example.com:80/a/../b#top' http://example.com/ nothing > urls
vidi canon --json urls
vidi canon --json urls | jq -r 'keys_unsorted | join(" ")'
vidi canon --json --stats --invalid drop urls 2>&1 > /dev/null |
    jq -c '[.read, .changed, .unchanged, .invalid, .canon]'
try vidi canon --json --explain urls
