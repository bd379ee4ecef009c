touch list.txt
for seed in example.org/x localhost:8000/ 127.0.0.1 mailto:a@b.c ftp://example.org/ list.txt 'a b' http://a:99999/ \
    http://a.example:25/ '' 'http://user:secret@exa mple/' '//user:secret@a.example/' user:secret@a.example; do
    try vidi crawl --contact me@example.org "$seed"
done
try vidi crawl --contact me@example.org
printf '%s\n' '' example.org > seeds.txt
try vidi crawl --contact me@example.org --seeds seeds.txt
try vidi crawl --contact me@example.org --seeds nothing.txt
try vidi crawl --contact me@example.org - < seeds.txt
try vidi crawl --contact me@example.org --seeds list.txt
