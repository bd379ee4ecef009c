printf '%s\n' '1,"http://a.example/?x=1,2",first' '2,HTTP://B.example,second' '3,http://b.example/,third' > in.csv
try vidi --field 2 --delimiter , in.csv
try vidi --field 2 --delimiter , --print url in.csv
try vidi --field 2 --delimiter , --print canonical in.csv
try vidi --field 2 --delimiter , --print url --seen in.csv
try vidi --field 2 --delimiter , --print url --count in.csv
echo '{"url":"http:\/\/a.example\/"}' | vidi --json-key url --print url
try vidi --print url <(echo http://a.example/)
vidi -s st --field 2 --delimiter , in.csv > /dev/null
try vidi has --field 2 --delimiter , --print url st in.csv
try vidi has --field 2 --delimiter , --print canonical st in.csv
