printf 'Warning: foo\n<?xml version="1.0" encoding="latin1"?>\n<urlset>\n<url><loc>http://h/?a&b&c</loc></url>\n<url><loc>/x</loc></url><url/>\n<url><loc>http://h/\xe4\x1b[1m&copy;</loc></url>\n<url><loc>http://h/cut' > broken.xml
try vidi sitemap broken.xml
try vidi sitemap -q broken.xml
try vidi sitemap -q --base http://base/a broken.xml
printf 'http://h/1\nnot a URL\nhttp://h/2\n' > urls.txt
try vidi sitemap urls.txt
