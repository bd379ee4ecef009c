# What came a while ago is in the state, although the input goes on, and survives a kill.
mkfifo to from
vidi -s st --line-buffered < to > from &
pid=$!
exec 3> to 4< from
echo http://a.example/ >&3
read -r -u 4 line && echo "$line"
until vidi has -q st <(echo http://a.example/) 2> /dev/null; do sleep 0.05; done
{ kill -KILL $pid; wait $pid; } 2> /dev/null
vidi has st <(echo http://a.example/)
# The same after a burst, when several threads are at work.
make_urls 60000 > burst
vidi -s other burst to > out &
pid=$!
exec 3> to
echo http://a.example/ >&3
until vidi has -q other <(echo http://a.example/) 2> /dev/null; do sleep 0.05; done
{ kill -KILL $pid; wait $pid; } 2> /dev/null
vidi has other <(echo http://a.example/)
tail -n 1 out
