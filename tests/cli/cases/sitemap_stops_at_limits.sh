seq -f 'http://h/%.0f' 1 5 > urls.txt
try vidi sitemap --max-urls 2 urls.txt
try vidi sitemap --max-bytes 25 urls.txt
seq -f 'http://h/%.0f' 1 50001 > many.txt
vidi sitemap many.txt > out
echo "status $?"
wc -l < out
# A file that unpacks to much more than the limit.
{ echo '<urlset><url><loc>http://h/1</loc></url>'; head -c 60000000 /dev/zero; } | gzip -1 > bomb.gz
try vidi sitemap bomb.gz
# Half of a packed file.
seq -f 'http://h/%.0f' 1 3000 | gzip -n > whole.gz
head -c $(($(wc -c < whole.gz) / 2)) whole.gz > half.gz
vidi sitemap -q half.gz > out
echo "status $?, $(awk '$0 == "http://h/" NR { n++ } END { print (n > 100 && n == NR ? "only whole URLs" : "wrong") }' out)"
