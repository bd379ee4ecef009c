# One line a URL; two where pages are to be rarer; and more once it has grown by a layer.
for options in "--capacity 1e6 --error 1e-2" "--capacity 1e6 --error 1e-4" "--capacity 1000 --error 1e-2"; do
    # shellcheck disable=SC2086 # several options
    make_urls 2000 | vidi --kind blocked $options --stats 2>&1 > out | grep '^lines per lookup'
done
make_urls 10 | vidi --stats 2>&1 > out | grep -c '^lines per lookup' || true
