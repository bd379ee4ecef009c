urls a b c d e f | make_state --kind hashset good
for name in snapshot log head end gone; do
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
vidi info log | grep ^damaged
echo "-- the log's head"
damage head/log.0000000000000001 10
try vidi check head
echo "-- a log that was cut off: no damage"
truncate -s -10 end/log.0000000000000001
try vidi check end
try vidi check -q end
vidi info end | sed -n '/^snapshot/,$p'
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
