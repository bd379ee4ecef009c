printf 'id,url,title\n1,http://a.example/,x\n2,http://b.example/,y\n3,HTTP://A.example,z\n' > a.csv
printf 'url,id\r\nhttp://b.example/,4\r\nhttp://c.example/,5\r\n' > b.csv
echo "-- by name and by number; the header is printed once"
try vidi --header -d , -f url a.csv
try vidi --header --delimiter=, --field=2 a.csv a.csv
try vidi --header -d, -furl --seen a.csv
echo "-- each file has its own order of fields"
try vidi --header -d , -f url a.csv b.csv
try vidi --header -d , -f url --count a.csv b.csv
try vidi -q --header -d , -f url --print url a.csv b.csv b.csv
try vidi --header -d , -f url --print verdict a.csv
echo "-- without fields: the first line of each file is no URL"
printf 'link\nhttp://a.example/\n' > one; printf 'link\nhttp://a.example/\nhttp://b.example/\n' > two
try vidi --header --invalid fail one two
printf 'link\0http://a.example/\0' | vidi --header -z | tr '\0' '|'
echo
echo "-- nothing but a header, or not even that"
head -n 1 a.csv | try vidi --header -d , -f url
printf 'id,url' | try vidi --header -d , -f url -c
try vidi --header -d , -f url /dev/null
echo "-- quotes, a byte order mark, carriage returns"
printf '\357\273\277"the ""id""","the, url"\r\n1,http://a.example/\r\n2,http://a.example/\r\n' > quoted.csv
vidi --header -d , -f 'the, url' quoted.csv | od -An -c
try vidi --header -d , -f 'the "id"' --print url quoted.csv
echo "-- a state, and questions to it"
vidi -s st --header -d , -f url a.csv > /dev/null
try vidi -s st --header -d , -f url b.csv
try vidi has --header -d , -f url st b.csv
try vidi has -q --header -d , -f url st b.csv
echo "-- lines counted as the file counts them, also across blocks"
try vidi --header -d , -f url --invalid fail <(printf 'id,url\n1,http://a.example/\n2\n') | sed 's/^vidi: [^:]*:/vidi: FILE:/'
{ echo id,url; seq 100000 | sed 's|.*|&,http://&.example/|'; echo 100001; } > long
try vidi --header -d , -f url --invalid fail long | tail -n 3
vidi --header -d , -f url long long 2> /dev/null | cmp - long
echo "-- what does not fit"
try vidi -d , -f url a.csv
try vidi --header -d , -f link a.csv
try vidi --header -f url a.csv
try vidi --header -d , -f url one
try vidi --header -d , -f url a.csv one
try vidi --header --json-key url a.csv
try vidi -f 99999999999999999999 a.csv
