printf '%s\n' 'HTTP://Example.com:80/a/../b?utm_source=x&b=2&a=1#top' http://example.com/ nothing | tee urls |
    vidi canon --canon crawl --explain
echo "--- without two rules"
vidi canon --canon crawl,-sort,-tracking --explain < urls
