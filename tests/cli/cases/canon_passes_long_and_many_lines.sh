# Twice is the same as once, whatever the length; and nothing is lost on the way.
{
    make_urls 20000
    printf 'http://example.org/'
    head -c 300000 /dev/zero | tr '\0' ' '
    printf 'x\n'
} > urls
vidi canon < urls > once
vidi canon < once > twice
cmp once twice
cmp <(head -n 20000 urls) <(head -n 20000 once)
wc -l < once
tail -n 1 once | wc -c
