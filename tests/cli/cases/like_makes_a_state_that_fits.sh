echo http://A.example/?b=1\&a=2 | vidi -s one --kind hashset --canon crawl
echo http://a.example/?a=2\&b=1 | vidi -s two --like one --stats 2>&1 | grep -E '^(http|kind|canon)'
try vidi --like one two
try vidi -s three --like one --kind list two
try vidi -s three --like four two
[ ! -e three ] || echo "a folder was made"
