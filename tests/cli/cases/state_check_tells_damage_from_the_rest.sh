urls a b c d e f | make_state --kind hashset good
for name in snapshot log head cut manifest missing none gone crash; do
    cp -r good $name
done
try vidi check good
try vidi check -q good
try vidi check --quiet good
echo "-- the snapshot"
damage snapshot/set.0000000000000001 200
try vidi check snapshot
try vidi check -q snapshot
: > snapshot/set.0000000000000001
try vidi check snapshot
echo "-- the log, between good records"
damage log/log.0000000000000001 180
try vidi check log
try vidi check -q log
vidi info log | sed -n '/^snapshot/,$p'
echo "-- and in a second place"
damage log/log.0000000000000001 400
try vidi check log
vidi info log | grep ^damage
vidi info --json log | grep -o '"recovery.*'
echo "-- the log's head"
damage head/log.0000000000000001 10
try vidi check head
echo "-- a log that was cut off"
truncate -s -10 cut/log.0000000000000001
try vidi check cut
try vidi check -q cut
vidi info cut | sed -n '/^snapshot/,$p'
echo "-- a log that is gone, and all of them"
rm missing/log.0000000000000001
try vidi check missing
vidi info missing | grep ^damage
echo "-- the manifest"
damage manifest/manifest 100
try vidi check manifest
rm none/manifest
try vidi check none
echo "-- what a crash has left of a last write is not damage"
printf 'half a rec' >> crash/log.0000000000000001
try vidi check crash
try vidi check -q crash
vidi info crash | sed -n '/^snapshot/,$p'
echo "-- what is damaged is not written to, and can be asked"
urls a b c d e f > in
find cut manifest missing -type f ! -name lock -exec md5sum {} + | sort > before
for name in cut manifest missing; do
    try vidi -s $name in
    try vidi remove $name in
    try vidi rotate $name
    try vidi merge $name good
    try vidi has -q $name in
    try vidi -n -s $name in
done
find cut manifest missing -type f ! -name lock -exec md5sum {} + | sort | cmp - before && echo untouched
try vidi export cut file
try vidi merge new cut
[ ! -e file ] && [ ! -e new ] && echo "neither was made"
echo "-- unless that is accepted"
try vidi export --accept-damage cut file
try vidi check file
rm file
try vidi -s cut --accept-damage in
try vidi check cut
try vidi remove --accept-damage manifest in
try vidi check manifest
try vidi merge --accept-damage missing good
try vidi check missing
echo "-- the snapshot is gone"
rm gone/set.*
try vidi check gone
echo "-- exported files"
vidi export good file
try vidi check file
try vidi check -q file
vidi check - < file
head -c 200 file > short
try vidi check short
cp file wrong
damage wrong 300
try vidi check wrong
(cat file; echo more) > long
try vidi check long
: > empty
try vidi check empty
head -c 5000 /dev/zero | tr '\0' x > text
try vidi check text
