# Counts: suffixes are decimal.
for value in 1000 1_000 1e3 1E3 1.0e3 1e+3 10000e-1 .1e4 1K 1k .001M 0.000_001G .000001B .000_000_001T; do
    printf 'a\na\n' | vidi --kind classic --capacity $value --json 2>&1 > /dev/null | grep -o '"capacity":[0-9]*'
done
# Counts are exact, also those that no double holds.
for value in 12345678901234567890 12_345_678_901_234_567.890K 1.2345678901234567890e19; do
    vidi lab cell --runs 1 --urls 100 --seed $value | grep -o 'seed [0-9]*'
done
# Sizes: K and KiB are 1024, KB is 1000.
for value in 1048576 1_048_576 1048576B 1024K 1024k 1024KiB 1024kib 1M 1m 1MiB 0.5M .5M 1e3K 1000KB 1MB 1mb \
    .0009765625G .0009765625GiB 0.001GB .000001TB; do
    vidi plan --kind classic --urls 1e5 --memory $value --json > out && echo "$value" "$(grep -o '"bytes":[0-9]*' out)"
done
# Other numbers.
for value in 0.05 .05 5e-2 0.050_000; do
    vidi --kind classic --capacity 100 --error $value --json < /dev/null 2>&1 | grep -o '"params":"[^"]*"'
done
# Every command reads its numbers in the same way.
vidi bench --kind classic --urls .01K --json | grep -o '"urls":10,'
vidi lab urls --urls .002K | wc -l
vidi plan --kind classic --urls 1_000K --lost .1K --json | grep -oE '"urls":[0-9]*'
