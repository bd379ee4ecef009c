printf '%s\n' http://www.example.com/a/ https://example.com/a 'http://example.com/#!page' 'http://example.com/#top' > urls
for rules in +www +scheme +slash +fragment +www,+scheme,+slash,+fragment; do
    try vidi canon --canon crawl,$rules urls
done
try vidi canon --canon whatwg,+fragment urls
try vidi canon --canon crawl,+fragment,+www --explain urls
try vidi canon --canon whatwg,+www urls
