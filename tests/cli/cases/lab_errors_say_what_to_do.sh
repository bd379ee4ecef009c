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
# What would be left out of account is said, before anything is measured.
try vidi lab run thesis-5.1 --csv --output tables.csv
try vidi lab run thesis-5.1 --k 7
try vidi lab cell --run 2
try vidi lab report thesis-5.1 --json
try vidi lab urls --runs 3
try vidi lab list --json
try vidi lab show thesis-5.1 --seed 3
try vidi lab cell --kind multilayer
try vidi lab cell --kind spatial
try vidi lab cell --kind classic --filters 2
try vidi lab cell --kind counting --crawls 2 --urls 100 --runs 1
# Standard input has one end.
try vidi lab run streams-properties --streams - --streams -
try vidi lab run thesis-5.1 --corpus - --graph -
