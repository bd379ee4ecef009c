hide_process()
{
    sed 's/process [0-9]*/process N/'
}
urls a b | make_state --kind hashset s
urls c | make_state --kind hashset other
vidi export other file
hold s
try vidi check s
vidi info s | grep ^URLs
vidi export s | vidi info - | grep ^URLs
try vidi merge new s
try vidi rotate s | hide_process
try vidi snapshot s | hide_process
try vidi merge s other | hide_process
try vidi import s file | hide_process
let_go
echo "-- and afterwards"
try vidi snapshot s
try vidi merge s other
