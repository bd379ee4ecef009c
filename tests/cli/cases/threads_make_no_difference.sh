make_urls 120000 > in
first_only in > exact
for threads in 1 2 3 8; do
    vidi --threads $threads in | cmp - exact
    vidi --threads $threads < in | cmp - exact
    cat in | vidi --threads $threads --canon none | cmp - exact
    vidi --threads $threads -s st$threads in | cmp - exact
    vidi --threads $threads -s st$threads in | wc -l
done
try vidi --threads 0 in
