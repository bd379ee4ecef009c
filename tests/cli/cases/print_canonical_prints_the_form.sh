printf '%s\n' 'HTTP://Example.com:80/a/../b#top' 'no url' http://example.com/b 'no url' http://x.example/?b=1\&a=2 > in
try vidi --print canonical in
try vidi --print line in
try vidi --print canonical --canon crawl in
try vidi --print canonical --key host in
try vidi --print other in
vidi -s st --canon crawl --print canonical in | tail -n 1
