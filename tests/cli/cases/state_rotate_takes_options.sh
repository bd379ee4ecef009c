urls a b c d e f g h | make_state --kind hashset s
try vidi rotate s
urls a b c d e f g h | make_state --open s
try vidi rotate --kind classic s
try vidi rotate --capacity 1000 --error 1e-3 s
vidi info s | grep -E '^(kind|capacity)'
try vidi rotate --param k=3 --capacity 2000 s
vidi info s | grep -E '^(kind|capacity)'
echo "-- the epoch before, kept"
ls s
try vidi rotate --keep-previous --kind hashset s
ls s
try vidi check s
echo "-- what is refused leaves the set in its epoch"
try vidi rotate --kind wibble s
try vidi rotate --kind classic --capacity 1000 --param k=0 s
try vidi rotate --kind classic --capacity 1e18 s
try vidi rotate --error 2 s
try vidi rotate --capacity 0 s
try vidi rotate --keep s
vidi info s | grep ^epoch
echo "-- a damaged log is told"
urls a b c d e f | make_state --open s
damage "$(echo s/log.* | sed 's/.* //')" 180
try vidi rotate s
try vidi rotate --accept-damage s
