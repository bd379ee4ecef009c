# The command below the table makes the set that is marked in the table and in JSON.
command -v jq > /dev/null || skip "jq is missing"
agree()
{
    vidi plan "$@" > table
    vidi plan "$@" --json > json
    jq -r '[.[] | select(.chosen)] | length, .[0].kind' json | paste -sd ' '
    sed -n 's/^\*  \([a-z]*\) .*/\1/p' table
    command=$(sed -n "s/^\* is what '\(.*\)' uses.*/\1/p" table)
    echo "$command"
    $command --json < /dev/null 2>&1 | jq -r .kind
}
agree --urls 1e6
agree --urls 1e6 --lost 0.25
agree --urls 1e6 --lost 0
agree --urls 1e6 --error 0.01
agree --urls 1e6 --error 1e-9
agree --urls 1e6 --memory 2M
agree --memory 4M --lost 2
agree --memory 4M --error 1e-3
agree --urls 1000 --memory 300K --lost 0
agree --urls 1e5 --k 4 --multiplier 3
agree --kind counting --param width=8 --urls 1e5 --error 0.01
echo "-- what vidi refuses is not marked"
vidi plan --urls 1e6 --memory 1K | grep -e '^\*' -e 'none of these'
vidi plan --urls 1e6 --memory 1K --json | jq 'map(.chosen) | any'
