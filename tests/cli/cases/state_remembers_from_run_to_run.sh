make_urls 3000 > in
head -n 1000 in > first
vidi -s st first > out1
vidi --state=st in > out2
cat out1 out2 | cmp - <(first_only in)
try vidi -s st in
# Its folder is as secret as its key.
stat -c '%A' st
try vidi -s st --kind hashset in
try vidi -s st --canon crawl in
try vidi -s st --canon whatwg --kind fingerprint --capacity 5 in
# A folder with something else in it is left alone.
mkdir other && echo mine > other/file
vidi -s other in > /dev/null 2> err
echo "status $?"
cat err other/file
mkdir empty
head -n 1 in | vidi -s empty
