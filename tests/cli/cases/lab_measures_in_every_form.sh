# Small runs: what is printed must not depend on threads or on the machine.
try vidi lab run thesis-5.5 --urls 2000 --runs 3 --csv
vidi lab run thesis-5.5 --urls 2000 --runs 3 --csv --threads 1 > one
vidi lab run thesis-5.5 --urls 2000 --runs 3 --csv --threads 3 > three
cmp one three && echo "threads do not matter"
try vidi lab run thesis-5.6 thesis-5.8 --urls 2000 --runs 3
vidi lab run thesis-5.20 --urls 1000 --runs 2 --json > json
echo "$(grep -c '"experiment":"thesis-5.20"' json) objects with $(sed -n 2p json | grep -o '"[a-z_]*":' | tr -d '":' | tr '\n' ' ')"
try vidi lab run thesis-5.1 --urls 1000 --runs 2 --raw
try vidi lab cell --k 2 --multiplier 1.5 --filters 2 --crawls 2 --urls 1000 --runs 2
try vidi lab cell --k 2 --crawls 2 --shuffled --urls 1000 --runs 25
try vidi lab cell --kind counting --k 20 --multiplier 3 --urls 1000 --runs 1
try vidi lab cell --kind counting --urls 1000 --runs 1 --csv
try vidi lab cell --kind counting --urls 1000 --runs 1 --raw
# Published ratios are the same in both forms.
vidi lab run thesis-A.1 --urls 1000 --runs 1 --csv | sed -n 8p | cut -d , -f 1-4
vidi lab run thesis-A.1 --urls 1000 --runs 1 --json | sed -n 8p | grep -oE '"published":[0-9.]{10}'
