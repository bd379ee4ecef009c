# One writer at a time; questions and dry runs go on beside it.
mkfifo to
vidi -s st < to > out &
exec 3> to
echo http://a.example/ >&3
until vidi has -q st <(echo http://a.example/) 2> /dev/null; do sleep 0.1; done
echo http://b.example/ | vidi -s st 2>&1 | sed 's/process [0-9]*/process N/'
echo "status ${PIPESTATUS[1]}"
printf '%s\n' http://a.example/ http://b.example/ http://b.example/ > in
try vidi -n -s st in
try vidi has st in
exec 3>&-
wait $!
echo "status $?"
