# The table in docs/CRAWLER.md has every option of vidi crawl, and no other.
options()
{
    grep -oE -- '--[a-z][a-z-]+' | sort -u
}
vidi crawl --help | grep -E '^ +(-[a-z], )?--' | options | grep -v -e --help > help
sed -n '/^## Every option/,/^### /p' "$VIDI_SOURCE/docs/CRAWLER.md" | grep '^|' | cut -d '|' -f 2 | options > table
diff help table
for command in report cdxj check wacz extract status pause resume stop; do
    grep -q "vidi crawl $command " "$VIDI_SOURCE/docs/CRAWLER.md" || echo "vidi crawl $command is not in CRAWLER.md"
done
echo "$(wc -l < help) options"
