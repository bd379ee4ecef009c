for value in 1000 1e3 1E3 1.0e3 1e+3 10000e-1; do
    printf 'a\na\n' | vidi --kind classic --capacity $value --json 2>&1 > /dev/null | grep -o '"capacity":[0-9]*'
done
for value in 1048576 1048576B 1024K 1024k 1M 1m 1MiB 0.5M 1e3K; do
    vidi plan --kind classic --urls 1e5 --memory $value --json > out && echo "$value" "$(grep -o '"bytes":[0-9]*' out)"
done
