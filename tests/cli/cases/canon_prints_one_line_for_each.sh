cat > urls <<'END'
HTTP://Example.com:80/a/../b#top
https://example.com/already?canonical
http://example.com
http://example.com/two words/ü
http://0x7f.1/
no URL at all

END
vidi canon urls
echo "--- as they are"
vidi canon --canon none < urls
printf 'HTTP://a/\r\nhttp://b/?#' | vidi canon - | od -c
