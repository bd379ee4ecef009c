cat > in <<'END'
{"meta":{"url":"http://a.example/","x":1},"url":"http://other.example/"}
{"meta.url":"http://b.example/"}
{"meta":[{"url":"http://no.example/"}],"x":{"meta":{"url":"http://no.example/"}}}
{"meta":{"x":{"url":"http://no.example/"},"url":"http://c.example/"}}
{"url":"http://no.example/","meta":"http://no.example/"}
{ "me\u0074a" : { "url" : "http:\/\/d.example\/" } }
END
try vidi --json-key meta.url --print url --invalid drop in
echo "-- of several keys of one name the last one counts, whatever it has"
cat > twice <<'END'
{"url":"http://no.example/1","url":"http://a.example/"}
{"url":"http://no.example/2","url":7}
{"url":"http://no.example/3","x":{"url":"http://no.example/4"},"url":"http://b.example/"}
END
try vidi --json-key url --print url --invalid drop twice
cat > twice <<'END'
{"meta":{"url":"http://no.example/1"},"meta":{"url":"http://a.example/"}}
{"meta":{"url":"http://no.example/2"},"meta":{"x":1}}
{"meta":{"url":"http://no.example/3"},"meta":null}
{"meta":{"url":"http://no.example/4","url":"http://b.example/"}}
END
try vidi --json-key meta.url --print url --invalid drop twice
echo "-- deep, empty and strange keys"
echo '{"a":{"b":{"c":{"d":"http://a.example/"}}}}' | vidi --json-key a.b.c.d --print url
echo '{"a":{"":{"b":"http://a.example/"}}}' | vidi --json-key a..b --print url
echo '{"":"http://a.example/"}' | try vidi --json-key . --invalid drop
echo '{"a":{"b":"http://a.example/"}}' | try vidi --json-key a. --invalid drop
dots=$(printf '%.0s.' $(seq 40))
try vidi --json-key "$dots" in
# Brackets without end cost no stack.
{ printf '{"x":'; head -c 1000000 /dev/zero | tr '\0' '['; head -c 1000000 /dev/zero | tr '\0' ']'; printf ',"url":"http://a.example/"}\n'; } |
    vidi --json-key url --print url
head -c 1000000 /dev/zero | tr '\0' '{' | vidi --json-key url | wc -c
