printf '<html><body>Please log in</body></html>' > page.html
printf 'http://h/1\n' > urls.txt
try vidi sitemap missing.xml
try vidi sitemap page.html urls.txt
try vidi sitemap /dev/null
try vidi sitemap --base nonsense urls.txt
try vidi sitemap --max-urls 0 urls.txt
