# A line that comes alone is answered at once, although the output is a pipe.
mkfifo to from
vidi --kind hashset < to > from &
exec 3> to 4< from
for line in first second first third; do
    echo $line >&3
    [ $line = first ] && [ -n "${answer-}" ] && continue
    read -r -u 4 answer
    echo "$line -> $answer"
done
exec 3>&-
wait $!
echo "status $?"
