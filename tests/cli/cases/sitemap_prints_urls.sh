cat > sitemap.xml <<'FILE'
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc>http://h/?a=1&amp;b=2</loc><lastmod>2026-01-02</lastmod></url>
  <url><loc>
    http://h/2
  </loc><image:image><image:loc>http://h/no.png</image:loc></image:image></url>
</urlset>
FILE
printf '<sitemapindex><sitemap><loc>http://h/s1.xml.gz</loc></sitemap></sitemapindex>' > index.xml
printf 'http://h/3\r\nhttp://h/4\r\n' > urls.txt
printf '<rss><channel><link>http://h/</link><item><link>http://h/5</link></item></channel></rss>' > rss.xml
printf '<feed><entry><link href="http://h/6"/></entry></feed>' > atom.xml
try vidi sitemap sitemap.xml index.xml urls.txt rss.xml atom.xml
try vidi sitemap < sitemap.xml
gzip -c sitemap.xml > sitemap.xml.gz
try vidi sitemap sitemap.xml.gz - < urls.txt
vidi sitemap sitemap.xml urls.txt | vidi | wc -l
