printf '%s\n' http://a.example/ http://b.example/ > in
vidi -s st in > /dev/null
printf '%s\n' HTTP://A.example http://c.example/ http://b.example/ nothing > ask
try vidi has st in
try vidi has st ask
try vidi has -v st ask
try vidi has -q st ask
try vidi has -q st in
try vidi has -v st in
try vidi has --invalid fail st ask
try vidi has --invalid drop -v st ask
try vidi has st < /dev/null
printf 'x\thttp://a.example/\0y\thttp://c.example/\0' | vidi has -z --field 2 st | tr '\0' '|'
echo
vidi has st --json in 2>&1 > /dev/null | jq -c '{read, new, seen, kind, epoch}'
try vidi has
try vidi has nowhere
try vidi has st nofile
vidi -s st <(echo http://c.example/)
