printf '%s\n' http://a.example/ http://b.example/ http://a.example/ > in
try vidi -n -s st in
[ ! -e st ] || echo "a folder was made"
head -n 1 in | vidi -s st
try vidi --dry-run -s st in
try vidi -n -s st in
try vidi -nD -s st in
try vidi -n -s st --epoch new in
