# Another program writes a line, waits for the answer, and writes the next one.
begin() # COMMAND...: its input is $to and its output $from, also for programs that run beside this one
{
    coproc "$@"
    exec {to}>&"${COPROC[1]}" {from}<&"${COPROC[0]}" {COPROC[1]}>&- {COPROC[0]}<&-
}

ask()
{
    echo "$1" >&$to
    read -r -u $from answer
    echo "$1 $answer"
}

finish()
{
    exec {to}>&-
    wait "$COPROC_PID"
    echo "status $?"
    exec {from}<&-
}

begin vidi -s st --print verdict
for url in http://a.example/ http://b.example/ HTTP://A.example 'not a URL' http://a.example/; do
    ask "$url"
done
echo "-- and after a lot at once, which takes several threads"
make_urls 60000 > many
cat many >&$to &
head -n 60000 <&$from | sort | uniq -c
ask http://c.example/
ask http://c.example/
finish
begin vidi has --print verdict st
ask http://b.example/
ask http://d.example/
finish
