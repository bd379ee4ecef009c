mkdir empty
head -c 5000 /dev/zero | tr '\0' x > text
urls a | make_state --kind hashset s
for state in missing empty text ''; do
    for command in info check rotate snapshot export; do
        try vidi $command "$state"
    done
    try vidi merge s "$state"
    try vidi merge new "$state"
done
try vidi merge text s
try vidi merge empty s
ls
echo "-- a file where a folder must be"
vidi export s file
try vidi rotate file
try vidi snapshot file
try vidi merge file s
echo "-- too little, too much"
for command in info check rotate snapshot merge export import; do
    try vidi $command
done
try vidi merge out
for command in info check rotate snapshot; do
    try vidi $command s more
done
try vidi export s file more
try vidi import s file more
try vidi info --wibble s
try vidi check --json s
