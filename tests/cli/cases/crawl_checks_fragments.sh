mkdir www
cat > www/index.html << 'HTML'
<meta charset=utf-8><h1 id=up>Home</h1> <a name=old>here</a>
<a href=#up>up</a> <a href=#old>old</a> <a href=#>top</a> <a href=#top>top</a> <a href='#:~:text=Home'>text</a>
<a href=#down>down</a> <a href=a.html#one>one</a> <a href=a.html#%7a%C3%BC>zü</a> <a href=a.html#two>two</a>
<a href=a.html#L12>line 12</a> <a href=plain.txt#part>not a page</a> <a href=gone.html#part>gone</a>
<a href='a.html#%22%3Cx%3E' rel=nofollow>nofollow</a>
HTML
printf '<meta charset=utf-8><p id=one>1<p id="zü">2<template><p id=two></template> <a href=/#down>down</a>' > www/a.html
echo text > www/plain.txt
start_site www
crawl --check --fragments --exclude '*#L*' --state state "$site" 2> err | hide_site
echo "[status ${PIPESTATUS[0]}]"
grep -E 'broken|fragments' err
vidi crawl report state | grep -cF '#'
vidi crawl report --json state | jq -c '[.broken, .bad_fragments, (.broken_links[] | [.url, .status, .reason])]' | hide_site
echo -- only on request
crawl --check -q "$site" | hide_site
crawl --check -q --json "$site" | jq -c '[.broken, .bad_fragments]'
echo -- a crawl whose only fault is a fragment has found a fault
rm www/plain.txt
printf '<a href=#nowhere>x</a>' > www/index.html
try crawl --check --fragments -q "$site" | hide_site
printf '<a href=#here id=here>x</a>' > www/index.html
try crawl --check --fragments -q "$site" | hide_site
echo -- pages that were read without it are not checked
crawl --check -q --state late "$site"
crawl --check --fragments --state late "$site" 2>&1 | grep -E 'warning|fragments'
try crawl --fragments "$site" | hide_site
stop_site
