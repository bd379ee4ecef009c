# Inputs of every shape, with one thread and with more than there are processors: what comes out is the same to the byte,
# on stdout and on stderr, and the exit status.
make_urls 100000 > many
first_only many > exact
for i in 1 2 3; do tail -n +$((i * 9000)) many | head -n 50000; done > again
awk '{ print $0 "\r" }' many > crlf
tr '\n' '\0' < many > nul
{ cat many; printf 'no url\n\nHTTP://HOST1.example.org:80/a/../b\nhttp://host1.example.org/b\n'; cat again; } > mixed
awk '{ printf "{\"n\":%d,\"url\":\"%s\"}\n", NR, $0 }' mixed > json
awk 'NR % 7 == 0 { print "{}" } { print }' json > lacking
{ echo 'n,url'; awk '{ printf "%d,\"%s\"\n", NR, $0 }' mixed; } > csv
{ cat many; head -c 3000000 /dev/zero | tr '\0' x; echo; cat again; head -c 3000000 /dev/zero | tr '\0' x; } > huge
awk 'BEGIN { for (i = 0; i < 300000; i++) print i % 1000 == 0 ? i : 7 }' > dense
awk 'BEGIN { for (i = 0; i < 300000; i++) print "" }' > empty
head -c 2500000 many > torn
: > nothing
echo http://a.org/ > tiny
gzip -k many

same() # NAME COMMAND...: the command with --threads in the place of T
{
    local name=$1 threads
    shift
    for threads in 1 2 16; do
        eval "${*//T/--threads $threads}" > out.$threads 2> err.$threads
        echo "status $?" >> err.$threads
        cmp out.1 out.$threads && cmp err.1 err.$threads || echo "$name differs with $threads threads"
    done
    echo "$name: $(wc -l < out.1) lines, $(tail -n 1 err.1)"
}

for file in nothing tiny many again mixed crlf huge dense empty torn many.gz; do
    same "$file" vidi T --canon none "$file"
    same "$file, invalid lines dropped" "vidi T --invalid drop --stats $file 2> stats; grep -E '^(lines|new|seen|inv)' stats >&2"
done
same 'from a pipe' 'cat mixed | vidi T'
same 'several files' vidi T many.gz tiny again nothing huge torn mixed
same 'ends in NUL' vidi T -0 nul
same 'an error deep inside' vidi T --invalid fail mixed
same 'an error in the second file' vidi T --invalid fail many mixed
same 'a key' vidi T --json-key url json
same 'a key that lines lack' vidi T --json-key url --invalid drop lacking
same 'a key that must be there' vidi T --json-key url --invalid fail lacking
same 'a quoted field' vidi T --header -d , -f url csv csv
same 'canonical forms' vidi T --print canonical mixed
same 'verdicts' vidi T --print verdict mixed
same 'counts' vidi T --count again
same 'repeats' vidi T --seen mixed
same 'a line that is too long' vidi T --max-line 1M huge
same 'a pipe that dribbles' '{ head -n 40000 many; sleep 0.1; seq 3; sleep 0.1; cat again; } | vidi T --canon none'
same 'a reader that dies' 'vidi T many again | head -n 5'
vidi -s st many > /dev/null
same 'lookups' vidi has T st mixed
same 'lookups of what is not there' vidi has -v T st mixed
same 'lookups with an error' vidi has T --invalid fail st mixed
same 'a dry run' vidi T -s st -n mixed
same 'a state' 'rm -rf st2; vidi T -s st2 mixed; vidi has -v st2 mixed'
same 'a state and a file' 'rm -rf st2 file; vidi T -s st2 -o file mixed; cat file'
