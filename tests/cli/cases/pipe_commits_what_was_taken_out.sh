# A reader that takes a number of lines and dies: those are seen, and no other.
make_urls 20000 > in
first_only in > exact
take() # N: reads lines byte by byte, so that no more leaves the pipe
{
    for ((i = 0; i < $1; i++)); do
        IFS= read -r line && printf '%s\n' "$line"
    done
}
for lines in 0 1 750; do
    for threads in 1 3; do
        rm -rf st
        vidi -s st --threads $threads in | take $lines > out
        echo "$lines lines: status ${PIPESTATUS[0]}"
        vidi -s st in > rest
        cat out rest | cmp - exact
    done
done
echo "-- a small output, of which the reader leaves a part in the pipe"
rm -rf st
urls a b c d > few
vidi -s st few | take 2
echo "status ${PIPESTATUS[0]}"
try vidi -s st few
echo "-- verdicts, URLs of a JSON object, a header"
rm -rf st
vidi -s st --print verdict few | take 3
try vidi -s st few
printf '{"url":"http://%s.example/"}\n' a b 'new\nline' c > json
rm -rf st
vidi -s st --json-key url --print url json | take 3
try vidi -s st --json-key url --print url json
printf 'url\nhttp://a.example/\nhttp://b.example/\n' > csv
rm -rf st
vidi -s st --header -f url csv | take 2
try vidi -s st --header -f url csv
