printf 'User agent: *\nDisalow: /a\nDisallow /b\nAllow: /a/index.html\n' > robots.txt
for option in '' --lenient; do
    try vidi robots $option robots.txt http://h/a http://h/b http://h/a/
done
