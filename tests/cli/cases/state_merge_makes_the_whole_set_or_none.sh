# Whichever call to the disk the program does not survive, or fails from then on, there is no OUT afterwards, or one with
# all URLs; and the command can be run again. The same for a set that is imported with a new key.
fate=$VIDI_BUILD/tests/libfate.so
[ -e "$fate" ] || skip "libfate is not built"
seq -f "http://one.example/%.0f" 20 > one
seq -f "http://two.example/%.0f" 20 > two
cat one two > all

look() # STATE
{
    vidi has "$1" all > found 2> error
    case $? in
        0) echo whole ;;
        1) echo "$(wc -l < found) of $(wc -l < all) URLs" ;;
        *) if grep -qE "No such file|holds no snapshot" error; then echo none; else cat error; fi ;;
    esac
}

# Kills a command at each of its calls, and tells what was found after that.
at_each_call() # COMMAND...
{
    local number=0 before
    while number=$((number + 1)); do
        rm -rf out
        LD_PRELOAD=$fate VIDI_FATE="${how-1} 3 $number" "$@" > messages 2>&1 && break
        before=$(look out)
        echo "$before"
        if [ "$before" = none ] && [ $((number % 5)) -eq 0 ]; then
            "$@" > messages 2>&1
            [ "$(look out)" = whole ] || echo "and then $(look out)"
        fi
    done 2> killed | sort | uniq -c | awk '{ $1 = ($1 > 10) ? "often" : "seldom"; print }'
    look out
}

for kind in hashset list multilayer spatial; do
    vidi -q -s "$kind.one" --kind $kind --capacity 100 one > new
    vidi -q -s "$kind.two" --like "$kind.one" two > new
    echo "-- $kind"
    at_each_call vidi merge out "$kind.one" "$kind.two"
done
echo "-- the disk fails from then on"
how=4 at_each_call vidi merge out hashset.one hashset.two
echo "-- from files"
vidi export multilayer.one one.vidi
vidi export multilayer.two two.vidi
at_each_call vidi merge out one.vidi two.vidi
echo "-- imported with a new key"
vidi merge both hashset.one hashset.two > messages
vidi export both both.vidi
at_each_call vidi import --new-key out both.vidi
echo "-- planted: one set, then the other"
vidi merge half hashset.one > messages
look half
