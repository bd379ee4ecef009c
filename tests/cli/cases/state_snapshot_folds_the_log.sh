urls a b c | make_state --kind hashset s
ls s
try vidi snapshot s
ls s
make_state --list s
try vidi snapshot s
echo "-- also one that is damaged, without what is lost"
urls d e f g h | make_state --open s
damage "$(echo s/log.*)" 180
try vidi snapshot s
try vidi snapshot --accept-damage s
try vidi check s
make_state --list s
