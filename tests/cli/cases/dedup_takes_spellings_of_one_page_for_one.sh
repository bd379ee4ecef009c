cat > urls <<'END'
HTTP://Example.com:80/a/../b#top
http://example.com/b
http://example.com/%7Eu?utm_source=x&b=2&a=1
http://example.com/~u?a=1&b=2
http://example.org/index.html
http://www.example.org
END
try vidi urls
try vidi --canon crawl urls
try vidi --canon crawl,-index,-sort urls
try vidi --canon surt urls
try vidi --canon key=host urls
try vidi --canon none urls
try vidi --canon nose urls
