{ printf 'User-agent: *\n'; yes '# a comment' | head -c 600000; printf '\nDisallow: /a\n'; yes '# another' | head -c 600000; printf '\nDisallow: /b\n'; } > robots.txt
try vidi robots robots.txt http://h/a http://h/b
