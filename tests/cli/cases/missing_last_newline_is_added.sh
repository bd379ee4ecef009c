printf 'a\nb' | vidi --kind hashset | od -An -c
printf 'a' | vidi --kind hashset | od -An -c
printf 'a\r' | vidi --kind hashset | od -An -c
