page() { printf '<meta charset=%s><a href="\xe9?\xe9">' "$1"; }
for label in utf-8 latin1 windows-1251 koi8-r; do
    page $label | vidi links --base http://h/
    page $label | vidi links --about -
done
page utf-8 | vidi links --base http://h/ --encoding windows-1251
printf '\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0\xac\x20>\0' | try vidi links --base http://h/ --encoding latin1
printf '\xef\xbb\xbf<a href=\xe2\x82\xac>' | try vidi links --base http://h/
echo | try vidi links --encoding utf-7
