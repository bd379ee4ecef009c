echo 00112233445566778899aabbccddeeff > key
echo http://a.example/ | vidi -s one --key-file key
echo http://b.example/ | vidi -s two --key-file key
echo http://c.example/ | vidi -s three --key-from one
echo http://d.example/ | vidi -s other
try vidi merge one two three
printf '%s\n' http://a.example/ http://b.example/ http://c.example/ http://d.example/ | vidi has -v one
try vidi merge one other
try vidi --key-file key two
try vidi -s four --key-file key --key-from one two
try vidi -s four --key-from one --like one two
try vidi -s four --key-file two/lock two
try vidi -s four --key-file nowhere two
try vidi -s four --key-from nowhere two
[ ! -e four ] || echo "a folder was made"
