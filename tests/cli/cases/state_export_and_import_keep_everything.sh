# All but what belongs to the folder, or may be allocated in another size.
essence()
{
    vidi info --json "$1" |
        sed -E 's/"(path|bytes|fill|memory_bytes|snapshot_bytes|log_bytes)":[^,]*,//g; s/"recovery":\{[^}]*\},//'
}
same()
{
    diff <(essence "$1") <(essence "$2")
}
umask 022
for kind in $(vidi kinds --json | sed -n 's/.*"kind":"\([a-z]*\)".*/\1/p'); do
    make_urls 300 | make_state --kind "$kind" --capacity 1000 "$kind"
    vidi rotate "$kind" > rotated
    make_urls 300 | make_state --open "$kind"
    vidi export "$kind" "$kind.file"
    vidi import "$kind.copy" "$kind.file" > imported
    same "$kind" "$kind.file"
    same "$kind" "$kind.copy"
    vidi check -q "$kind.copy"
done
urls a b | make_state --kind hashset s
try vidi export s file
stat -c '%a %F' file
try vidi import copy file
make_state --list copy
stat -c '%a %F' copy
try vidi merge copy s
echo "-- pipes"
vidi export s | vidi import second
vidi export s - | vidi import third -
mkfifo pipe
vidi check pipe &
vidi export s pipe
wait
echo "-- over a file that is there, also through a link"
chmod 644 file
ln -s file link
urls c | make_state --open s
try vidi export s link
stat -c '%a %F' file
vidi info link | grep -E '^URLs'
readlink link
echo "-- over what a killed command has left"
echo half > file.new
try vidi export s file
ls file*
echo "-- an empty folder may be there"
mkdir folder
try vidi import folder file
