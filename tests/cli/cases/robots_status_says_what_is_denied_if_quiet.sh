printf 'User-agent: *\nDisallow: /a\n' > robots.txt
try vidi robots -q robots.txt http://h/b http://h/c
try vidi robots -q robots.txt http://h/b http://h/a
try vidi robots robots.txt http://h/a
