echo http://a.example/ > in
vidi -s st in
vidi -s st in
vidi -s st --epoch new --json in 2> json
jq -c '{new, seen, epoch, count}' json
vidi -s st in
try vidi -s st --epoch old in
try vidi --epoch new in
