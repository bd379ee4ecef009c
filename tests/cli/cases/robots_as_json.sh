command -v jq > /dev/null || skip "jq is missing"
printf 'Sitemap: http://h/s.xml\nUser-agent: vidi\nCrawl-delay: 2.5\nDisallow: /a*b$\nAllow: /\nfoo: bar\nSitemap: /t.xml\n' > robots.txt
vidi robots --json robots.txt http://h/a-b http://h/ http://h/robots.txt
vidi robots --json robots.txt http://h/ | jq -r 'keys_unsorted | join(" ")'
vidi robots --json robots.txt | jq -c '[.crawl_delay, .sitemaps, .urls, .group]'
echo http://h/ab | vidi robots --json robots.txt - | jq -c .urls
vidi robots --json --agent other - < robots.txt | jq -c '[.group, .crawl_delay, .rules]'
