#!/bin/bash
# A verdict does not depend on the seed: no claim holds with one and does not hold with another. That too little was
# measured is no contradiction.
#
# Usually two seeds and some claims about rates, with few URLs; with VIDI_TEST_LONG all claims and five seeds.
#
#   VIDI_LAB_SEEDS     the seeds, with spaces between them
#   VIDI_LAB_OPTIONS   options and claims for `vidi lab claims`
#
# shellcheck source=../../meta/tap.bash
. "$(dirname "$0")/../../meta/tap.bash"
export XDG_CACHE_HOME=$tmp/cache
some='--urls 10000 --runs 5 thesis-temporal thesis-spatial thesis-salts thesis-jenkins eigen-best-k counting-*'
[ -z "${VIDI_TEST_LONG-}" ] || some='--urls 100000 --runs 30'
[ -z "${VIDI_TEST_LONG-}" ] || five='1 2 3 4 5'
read -ra options <<<"${VIDI_LAB_OPTIONS-$some}"
read -ra seeds <<<"${VIDI_LAB_SEEDS-${five-1 2}}"

# turned FILE...: prints the claims whose verdicts in these files contradict one another; fails if there are any.
turned() {
    awk -F , '
        FNR == 1 { next }
        { verdicts[$1] = verdicts[$1] " " FILENAME ": " $2 }
        $2 ~ /^holds/ { holds[$1] = 1 }
        $2 == "does not hold" { fails[$1] = 1 }
        END {
            for (claim in verdicts)
                if (holds[claim] && fails[claim]) {
                    print claim ":" verdicts[claim]
                    found = 1
                }
            exit found
        }' "$@"
}

# measure SEED: writes the verdicts to a file of that name.
measure() {
    "$VIDI_BUILD/vidi" lab claims --csv --seed "$1" "${options[@]}" >"$tmp/$1"
}

# Some claim is judged at all; otherwise nothing is compared.
judged() {
    grep -qE '^[^,]*,(holds|does not hold)' "$1"
}

found() {
    ! turned "$@"
}

heads='claim,verdict,text,sentence,margin'
printf '%s\na,holds,x\nb,holds,x\nc,too little was measured,x\n' "$heads" >"$tmp/x"
printf '%s\na,holds with conditions,x\nb,too little was measured,x\nc,does not hold,x\n' "$heads" >"$tmp/y"
printf '%s\na,does not hold,x\n' "$heads" >"$tmp/z"
check "what is undecided contradicts nothing" turned "$tmp/x" "$tmp/y"
check "a verdict that turns round is found" found "$tmp/x" "$tmp/y" "$tmp/z"

for seed in "${seeds[@]}"; do
    check "the claims are judged with seed $seed" measure "$seed"
done
check "some are judged" judged "$tmp/${seeds[0]}"
check "no verdict turns round" turned "${seeds[@]/#/$tmp/}"
finish
