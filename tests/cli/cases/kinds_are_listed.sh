try vidi kinds
command -v jq > /dev/null || exit 0
vidi kinds --json | jq -c '(map(.default) | index(true)), (.[0] | keys_unsorted), all(.can | type == "array")'
# Every kind that is listed can be named.
for kind in $(vidi kinds --json | jq -r '.[].kind'); do
    printf 'http://a/\nhttp://b/\nhttp://a/\n' | vidi --kind "$kind" --capacity 1000 | tr '\n' ' '
    echo "$kind"
done
