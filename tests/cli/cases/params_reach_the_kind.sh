printf 'a\nb\na\n' | vidi --kind classic --capacity 1000 --param k=3 --param hash=murmur2 --json 2>&1 |
    sed -E 's/.*("kind":"[^"]*").*"params":"([^"]*)".*/\1 \2/' | tr ',' '\n' | grep -E '^("kind|k=|hash=|a|b)'
