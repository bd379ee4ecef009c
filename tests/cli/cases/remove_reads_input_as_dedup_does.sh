remove() # OPTION...: removes the lines of the file `lines` from a state with a, b, c and d, and lists what is left
{
    rm -rf st
    urls a b c d | vidi -s st --kind hashset > /dev/null
    try vidi remove "$@" st lines
    vidi list st | sort | tr '\n' ' '
    echo
}
printf '1,"http://a.example/",x\n2,HTTP://B.example,y\n' > lines
remove --field 2 --delimiter ,
printf '{"id":1,"url":"http:\/\/c.example\/"}\n' > lines
remove --json-key url
urls a d | tr '\n' '\0' > lines
remove -z
urls a b | gzip > lines
remove
printf 'http://a.example/\r\nhttp://b.example/' > lines
remove
echo "-- lines that are not URLs"
printf '%s\n' http://a.example/ 'not a URL' http://b.example/ > lines
remove
remove --invalid drop --stats 2>&1 | grep -v -e seconds -e URLs/s
remove --invalid fail
vidi -s kept --kind hashset lines > /dev/null
try vidi remove kept lines
echo "-- from standard input, and from several files"
urls a b c d | vidi -s st > /dev/null
urls a > one
urls b c > two
try vidi remove st one - two < <(urls d)
try vidi has -v st <(urls a b c d)
