printf '%s\n' http://b.example/ http://a.example/ HTTP://B.example b http://b.example/#x > in
try vidi -c in
try vidi --count --seen in
try vidi -c --print canonical in
try vidi -c --kind hashset --param multiset=on in
try vidi -c --kind hashset in
try vidi -c --kind fingerprint --param multiset=on in
try vidi -c --param multiset=on in
try vidi -c -s st in
printf 'x\thttp://a.example/\ny\thttp://a.example/\n' | vidi -c --field 2
make_urls 20000 > many
vidi -c many | cmp - <(awk '!n[$0]++ { order[++k] = $0 } END { for (i = 1; i <= k; i++) printf "%7d %s\n", n[order[i]], order[i] }' many)
