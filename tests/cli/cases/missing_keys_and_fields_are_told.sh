for i in 1 2 1 2; do echo "{\"URL\":\"http://$i.example/\",\"n\":$i}"; done > upper
echo "-- the key that was perhaps meant"
try vidi --json-key url upper
try vidi --json-key url --invalid drop upper
try vidi --json-key url --invalid fail upper
try vidi --json-key ULR upper
try vidi --json-key other upper
echo '{"meta":{"url":"http://a.example/","lang":"en"},"id":"7"}' > nested
try vidi --json-key url nested
try vidi --json-key meta.link nested
try vidi --json-key meta nested
try vidi --json-key meta --invalid fail nested
echo '{"a":1}' | try vidi --json-key url
seq 10 | sed 's/.*/"key&":"x"/' | paste -sd , | sed 's/.*/{&}/' | try vidi --json-key url
echo "-- lines that are not objects"
try vidi --json-key url <(urls a b)
try vidi --json-key url --invalid fail <(urls a b) | sed 's/^vidi: [^:]*:/vidi: FILE:/'
echo "-- fields"
printf '1,http://a.example/\n2,http://b.example/\n' > commas
try vidi -f 2 commas
try vidi -f 2 --invalid fail commas
try vidi -f 3 -d , commas
printf '1\thttp://a.example/\n' | try vidi -f 2 -d ,
printf 'id,url\n1\n2\n3,http://a.example/\n' | try vidi --header -f url -d ,
printf 'id,url\n1\n' | try vidi --header -f url -d , --invalid fail
echo "-- no warning if not most lines lack it, or if none is wanted"
{ cat upper; sed s/URL/url/ upper; } | try vidi --json-key url > /dev/null
try vidi -q --json-key url upper
try vidi --json-key url /dev/null
vidi -s st upper > /dev/null
try vidi has -q --json-key url st upper
echo "-- a line without the field is dropped even if the line is a URL; it counts as invalid"
printf 'http://a.example/\n1\thttp://a.example/\nhttp://b.example/\n' > mixed
for threads in 1 3; do
    try vidi -f 2 --invalid drop --threads $threads --json mixed | grep -o '.*example.*\|.*warning.*\|"read.*invalid":[0-9]*'
done
try vidi -f 2 --invalid drop --canon none --print verdict -q mixed
echo "-- the same in a long input, with threads"
make_urls 300000 | awk '{ print NR % 5 ? NR "\t" $0 : $0 }' > long
vidi -f 2 --invalid drop --stats long 2>&1 > out | grep -E '^(lines|read|invalid)'
grep -P '\t' long | awk -F '\t' '!seen[$2]++' | cmp - out
vidi -f 2 --invalid drop --print verdict long | sort | uniq -c
vidi -f 2 --invalid fail long 2>&1 > out
head -n 4 long | cmp - out
