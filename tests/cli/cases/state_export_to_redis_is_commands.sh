# vidi export --redis: commands in the protocol of Redis, whose pieces are a file that import takes.

# Takes the commands of standard input apart: prints them, and appends their pieces to the file pieces.
apart()
{
    while IFS= read -r count; do
        [ "$count" = $'*4\r' ] || { echo "not a command: $count"; return; }
        line=
        for word in 1 2 3; do
            IFS= read -r length
            IFS= read -r text
            text=${text%$'\r'}
            [ "$length" = "\$${#text}"$'\r' ] || echo "length of word $word is wrong"
            line+="$text "
        done
        IFS= read -r length
        length=${length//[$'$\r']/}
        head -c "$length" >> pieces
        IFS= read -r end
        [ "$end" = $'\r' ] || echo "the piece does not end where it says"
        echo "$line"
    done
}
umask 077
make_urls 3000 | make_state --capacity 3000 s
vidi rotate --keep-previous s > rotated
make_urls 500 | make_state --open s
try vidi export s --redis crawl:seen commands
apart < commands
try vidi import copy pieces
try vidi merge copy s
vidi check -q copy
vidi info pieces | grep -E '^(kind|URLs)'
echo "-- by a pipe, and a large set in several pieces"
rm pieces
vidi export s --redis 'a key' | cat > commands
apart < commands
rm pieces
make_urls 500000 | vidi --state big --kind hashset > big.out
vidi export big --redis big commands
apart < commands
vidi import big.copy - < pieces
echo "-- one piece alone, and one too many"
head -c 1000000 pieces > some
try vidi import half some
cat pieces pieces > twice
try vidi import half twice
ls -d half 2>&1
echo "-- what cannot be"
try vidi export s --redis
try vidi export nowhere --redis k commands
