printf 'http://example.com/caf\xe9\nhttp://example.com/caf\xe8\nhttp://example.com/caf\xc3\xa9\n' > urls
try vidi canon urls
vidi canon --stats urls > /dev/null
vidi canon --stats --json urls > /dev/null
vidi --quiet urls | wc -l
