# What claims rest on is measured, and their verdicts are printed in every form.
try vidi lab claims thesis-temporal 'counting-sp*' thesis-temporal --urls 1000 --runs 2
try vidi lab claims thesis-temporal --urls 1000 --runs 2 --csv
vidi lab claims thesis-temporal --urls 1000 --runs 2 --json | jq -c '.[0] | [.claim, .verdict, .evidence, .margin, .urls, .seed]'
try vidi lab claims thesis-tempora
try vidi lab claims nothing-of-the-sort
try vidi lab claims --csv --json
try vidi lab claims --raw
