printf 'User-agent: *\nDisallow: /a\n' > robots.txt
printf 'http://h/a\nhttp://h/b\r\nhttp://h/ab' > urls
try vidi robots robots.txt < urls
try vidi robots robots.txt http://h/x - http://h/y < urls
try vidi robots robots.txt < /dev/null
