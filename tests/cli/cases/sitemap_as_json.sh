command -v jq > /dev/null || skip "jq is missing"
printf '<urlset>\n<url><loc>http://h/\xc3\xa4"</loc><lastmod>2026</lastmod><changefreq>daily</changefreq><priority>.5</priority></url>\n<url><loc>http://h/2</loc></url></urlset>' > s.xml
printf '<sitemapindex><sitemap><loc>http://h/s</loc></sitemap></sitemapindex>' > i.xml
vidi sitemap --json s.xml i.xml
vidi sitemap --json s.xml i.xml | jq -r 'keys_unsorted | join(" ")'
