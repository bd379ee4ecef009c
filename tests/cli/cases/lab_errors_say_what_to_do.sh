try vidi lab
try vidi lab dance
try vidi lab show
try vidi lab show thesis-5.99
try vidi lab run nothing-at-all
try vidi lab list thesis-5.1
try vidi lab cell thesis-5.1
try vidi lab run thesis-5.1 --csv --json
try vidi lab cell --hash nohash --urls 100 --runs 1
try vidi lab cell --hash jenkins+murmur2 --k 2 --filters 2 --urls 100 --runs 1
try vidi lab cell --hash jenkins+murmur2 --k 3 --urls 100 --runs 1
