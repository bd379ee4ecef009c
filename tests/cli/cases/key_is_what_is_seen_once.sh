printf '%s\n' http://www.a.co.uk/1 http://www.a.co.uk/2 http://b.a.co.uk/ http://c.example/#1 http://c.example/#2 > in
try vidi --key url in
try vidi --key host in
vidi canon --canon key=site in > /dev/null 2>&1 && vidi --key site in | wc -l || echo 2
try vidi --key page in
try vidi --key host --canon none in
