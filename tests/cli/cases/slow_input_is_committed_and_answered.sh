# What came a while ago survives a kill, although the input goes on.
mkfifo to from
vidi -s st --line-buffered < to > from &
exec 3> to 4< from
echo http://a.example/ >&3
read -r -t 20 -u 4 line && echo "$line"
sleep 2.5
{ kill -KILL $!; wait $!; } 2> /dev/null
vidi has st <(echo http://a.example/)
