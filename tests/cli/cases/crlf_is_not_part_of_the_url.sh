# CR LF and LF lines are the same URL; each is printed as it was. Only the last CR is taken off.
printf 'a\r\nb\na\nb\r\nc\r\r\nc\r\n\r\n\n' | vidi --kind hashset | od -An -c
