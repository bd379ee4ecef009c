# Exported sets one after the other: the second must not be ignored.
urls a b | vidi --state one > /dev/null
urls c d | vidi --state two > /dev/null
vidi export one one.vidi
vidi export two two.vidi
cat one.vidi two.vidi > both.vidi
for command in "import new" check info; do
    # shellcheck disable=SC2086 # two words
    try vidi $command both.vidi
    # shellcheck disable=SC2086
    cat both.vidi | try vidi $command -
done
try vidi merge new one both.vidi
urls a | try vidi has both.vidi
(cat one.vidi && echo) | try vidi import new -
mkfifo pipe
cat both.vidi > pipe &
try vidi import new pipe
wait
ls -d new 2>&1
cat one.vidi | try vidi check -
