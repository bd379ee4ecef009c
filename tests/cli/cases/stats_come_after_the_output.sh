printf 'a\nb\na\n' | vidi --kind hashset --stats 2>&1 | head -n 4
