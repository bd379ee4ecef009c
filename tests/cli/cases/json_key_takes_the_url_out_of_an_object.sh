cat > in <<'END'
{"url":"http://a.example/","n":1}
 { "n" : [ {"url": "http://b.example/"}, "," ], "url" : "http://a.example/" }
{"n":2,"url":"http:\/\/a.example\/"}
{"u\u0072l":"http://a.example/"}
{"x":"url","url":"http://c.example/"}
{"x":"\"url\":","url":"http://c.example/"}
{"url":"http://d.example/\u00e4\ud83d\ude00"}
{"url":"http://d.example/%C3%A4%F0%9F%98%80"}
{"url":{"url":"http://a.example/"}}
{"url":7,"x":"http://a.example/"}
{"other":"http://a.example/"}
["url","http://a.example/"]
{"url":"http://a.exam
{"url":"\
{"url":"http://e.example/\ud800x\uZZ"}

END
try vidi --json-key url in
try vidi --json-key url --invalid drop in
try vidi --json-key url --print canonical --invalid drop in
