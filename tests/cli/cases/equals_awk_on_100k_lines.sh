# The exact answer, from a file, through a pipe, and piece by piece.
make_urls 100000 > in
first_only in > expected
wc -l in expected
for kind in hashset; do
    vidi --kind $kind in | cmp - expected && echo "$kind: file"
    cat in | vidi --kind $kind | cmp - expected && echo "$kind: pipe"
    dd if=in bs=777 status=none | vidi --kind $kind | cmp - expected && echo "$kind: small pieces"
done
# A kind that may lose pages is asked to lose one in 1e7 runs.
vidi --error 1e-12 in | cmp - expected && echo "default kind"
vidi --error 1e-12 --capacity 1000 in | cmp - expected && echo "default kind, growing"
vidi --kind classic --error 1e-12 --capacity 1e5 in | cmp - expected && echo "classic"
