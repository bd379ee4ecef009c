# Control characters, characters that turn the direction of the text around, and bytes that are not UTF-8.
show() { LC_ALL=C sed -n 'l 200'; }
vidi $'a\x1b[2Jb\nc' 2>&1 | show
vidi $'exe\xe2\x80\xaegnp.txt' 2>&1 | show        # U+202E
vidi $'a\xd8\x9cb\xe2\x81\xa6c\xe2\x81\xa9d' 2>&1 | show # U+061C, U+2066, U+2069
vidi $'a\xc2\x9b2Jb\xe2\x80\xa8c\x9bd\xffe' 2>&1 | show  # U+009B, U+2028, and bytes that are not UTF-8
vidi $'caf\xc3\xa9 \xd7\xa9\xd7\x9c' 2>&1 | show        # letters stay as they are
# In JSON they are escaped.
printf '<a href=/x>a\xe2\x80\xaeb\xc2\x9bc\x7fd\xd7\xa9e\xff\"\\\\</a>' |
    vidi links --encoding utf-8 --base http://a.example/ --json | show
