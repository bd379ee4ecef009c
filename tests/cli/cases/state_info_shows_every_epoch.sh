urls a b c | make_state --kind hashset s
try vidi rotate s
urls a b c d | make_state --open s
try vidi rotate --kind classic --capacity 1000 s
urls a | make_state --open s
vidi info s | sed -n '/^$/,$p'
echo "-- and so does what is exported"
vidi export s | vidi info - | sed -n '/^$/,$p'
