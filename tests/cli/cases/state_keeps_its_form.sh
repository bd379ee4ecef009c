for form in whatwg crawl crawl,-sort surt key=host; do
    urls a | vidi -s "$form" --canon "$form" > /dev/null
    vidi info "$form" | grep 'canonical form'
    # Without --canon, with it, and with its version, the state goes on with its form.
    version=${form/,/\/1,}
    [ "$version" != "$form" ] || version=$form/1
    urls a | vidi -s "$form" | wc -l
    urls a | vidi -s "$form" --canon "$form" | wc -l
    urls a | vidi -s "$form" --canon "$version" --dry-run | wc -l
done
try vidi -s whatwg --canon whatwg/2 /dev/null
try vidi -s crawl --canon crawl,-sort /dev/null
try vidi -s crawl --canon crawl,+www /dev/null
try vidi -s new --canon crawl/2 /dev/null
urls a | vidi -s two --like crawl > /dev/null
vidi info two | grep 'canonical form'
try vidi merge two whatwg
