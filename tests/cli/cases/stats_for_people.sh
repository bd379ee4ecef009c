printf 'a\nb\na\nc\nb\na\n' | vidi --kind hashset --stats 2>&1 > out | hide_times
cat out
printf 'a\nb\na\n' | vidi --kind classic --capacity 1000 --error 0.01 --stats 2>&1 > out |
    hide_times | sed -E 's/^(expected pages lost|error rate now)( +)[0-9.e-]+/\1\2*/'
