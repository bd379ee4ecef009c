# Lines of all lengths around the reader's block and buffer sizes.
awk 'BEGIN { for (i = 0; i < 700; i++) { s = s "0123456789"; print i % 50, s } }' > in
for length in 262142 262143 262144 262145 524287 524288 524289; do
    { head -c $length /dev/zero | tr '\0' y; echo; echo $length; } >> in
done
vidi --kind hashset in in > out
cmp in out && wc -lc < out | tr -s ' '
for size in 262143 262144 262145; do
    head -c $size in > piece
    vidi --kind hashset piece | cmp - <(cat piece; echo)
done 2>&1 | head -n 3
