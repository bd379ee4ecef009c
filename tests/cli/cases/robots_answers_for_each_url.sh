cat > robots.txt <<'FILE'
User-agent: *
Disallow: /private/
Allow: /private/*.html$

User-agent: Otherbot
User-agent: SearchBot
Disallow: /
Allow: /public/
FILE
try vidi robots robots.txt http://h/ http://h/private/ http://h/private/a.html http://h/private/a.html?x /private/b
try vidi robots --agent otherbot robots.txt http://h/ http://h/public/1
try vidi robots -a Searchbot robots.txt http://h/robots.txt http://h/private/a.html
try vidi robots /dev/null http://h/
try vidi robots - http://h/private/ < robots.txt
