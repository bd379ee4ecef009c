cat > urls <<'END'
http://example.com/?a=1
http://example.com/?a=1&utm_source=x
http://example.com/?a=1&mine=3
http://example.com/?a=1&from_there=x&mine=4
END
printf '%s\n' '# ours' mine 'from_*' > list
printf '%s\n' @builtin mine 'from_*' > longer
try vidi --canon crawl urls
try vidi --canon crawl --tracking list urls
try vidi --canon crawl --tracking longer urls
: > empty
try vidi --canon crawl --tracking empty urls
try vidi --tracking list urls
try vidi --canon crawl --tracking missing urls
printf 'a\0b\n' > zero
try vidi --canon crawl --tracking zero urls
printf 'a=b\n' > wrong
try vidi --canon crawl --tracking wrong urls
