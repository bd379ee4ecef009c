# A URL is remembered only if its verdict was written. The output may not grow beyond a limit, which it reaches just
# before the first commit, after 262,144 new URLs. Every URL comes ten times, so that the log stays below the limit; the
# repeats at the beginning leave some verdicts in the program's buffer when the commit comes.
{
    yes http://b.example/ | head -n 20000
    seq -f 'http://a.example/%.0f' 300000 | awk '{ for (i = 0; i < 10; i++) print }'
} > in
(ulimit -f 12600; trap '' XFSZ; vidi -s st --print verdict in > out; echo "status $?") 2> /dev/null
written=$(wc -l < out)
[ "$written" -gt 2600000 ] || echo "only $written verdicts"
vidi has st <(tail -n +$((written + 10)) in) | wc -l
# Of a reader that goes away, the rest is new again.
vidi -s st2 --print verdict in | head -n 10 > out
echo "status ${PIPESTATUS[0]}"
vidi -s st2 --print verdict in | tail -n 10 | sort | uniq -c
