# 20 MB without a newline, between short ones; twice. They differ in the last byte only from a third.
line() { head -c 20000000 /dev/zero | tr '\0' "$1"; }
{ echo a; line x; echo 1; echo b; line x; echo 1; echo a; line x; printf 2; } > in
vidi --kind hashset in > out
first_only in | cmp - out && wc -c < out
vidi - --kind hashset --stats < in 2>&1 > /dev/null | grep -E '^(lines|new|seen|bytes)'
