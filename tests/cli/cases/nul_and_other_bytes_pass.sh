# NUL does not end a line, nor do bytes that are no text; what differs after a NUL differs.
printf 'a\0b\na\0c\na\na\0b\n\377\376\n\377\376\n\0\n' | vidi --kind hashset | od -An -c
