printf 'http://example.com/caf\xe9\n' > first
printf 'http://example.com/caf\xe8\n' > second
for form in whatwg crawl crawl,-sort surt key=host; do
    old=${form/,/\/1,}
    [ "$old" != "$form" ] || old=$form/1
    vidi -s "$form" --canon "$old" first > /dev/null
    vidi info "$form" | grep 'canonical form'
    # The name alone means the version that the state has: to version 1 the two are one page.
    vidi -s "$form" --canon "$form" second | wc -l
    vidi -s "$form" second | wc -l
    vidi -s "$form" --canon "$form" --dry-run second | wc -l
    vidi -s "$form-new" --canon "$form" first > /dev/null
    vidi info "$form-new" | grep 'canonical form'
done
try vidi -s whatwg --canon whatwg/2 second
try vidi -s whatwg-new --canon whatwg/1 second
try vidi -s crawl --canon crawl,-sort second
try vidi -s crawl --canon crawl,+www second
try vidi -s crawl-new --canon crawl/3 second
vidi -s one --canon whatwg/1 first > /dev/null
vidi -s two --like one first > /dev/null
vidi info two | grep 'canonical form'
vidi -s three first > /dev/null
try vidi merge one three
