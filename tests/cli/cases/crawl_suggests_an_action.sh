try vidi crawl repport dir
try vidi crawl cdx dir
try vidi crawl chekc dir
echo -- no guess
try vidi crawl --allow-net loopback nonsense dir
try vidi crawl --allow-net loopback report.org dir
