# Text files, empty files, folders with other things: none of them is a damaged set.
urls a > urls.txt
: > empty
head -c 1000 /dev/zero | tr '\0' x > long
mkdir folder bare
cp urls.txt folder
vidi -s set urls.txt > /dev/null
vidi export set exported
for name in urls.txt empty long folder bare; do
    echo "-- $name"
    for command in info check has export rotate snapshot "merge set" top; do
        vidi $command $name < /dev/null 2>&1
    done
    vidi -s new --like $name urls.txt
    [ $name = bare ] || { vidi -s $name urls.txt; vidi -n -s $name urls.txt; }
done 2>&1
for name in urls.txt empty long; do
    vidi import new $name 2>&1
done
vidi import new < urls.txt 2>&1
ls
echo "-- an exported set can be asked and be a model, but not be written to"
try vidi has exported urls.txt
try vidi -s alike --like exported urls.txt
try vidi -s exported urls.txt
try vidi rotate exported
