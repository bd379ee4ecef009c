# However few URLs there are, every experiment has its table, and what cannot be computed is empty.
vidi lab run --urls 1 --runs 1 --csv > tables.csv
cut -d , -f 1 tables.csv | sed 1d | uniq > measured
vidi lab list | sed 1d | cut -d ' ' -f 1 | grep -v '^large-\|^streams-' | cmp - measured && echo all are there
grep -E ',-?(nan|inf)' tables.csv || echo every number is finite
