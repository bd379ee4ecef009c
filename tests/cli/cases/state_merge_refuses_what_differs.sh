urls a | make_state s
urls b | make_state fits
make_state --key 2 key < /dev/null
make_state --kind blocked kind < /dev/null
make_state --canon crawl canon < /dev/null
make_state --params hash=xxh3 hash < /dev/null
make_state epoch < /dev/null
vidi rotate epoch > rotated
for other in key kind canon hash epoch; do
    try vidi merge s fits $other
done
echo "-- and nothing was merged before that was found out"
vidi info --json s | grep -o -m 1 '"count":[0-9]*' | head -n 1
try vidi merge new fits key
[ ! -e new ] || echo "new is there"
echo "-- sets that keep their URLs"
make_state --kind hashset one < /dev/null
make_state --kind hashset --canon crawl canon.urls < /dev/null
make_state --kind sorted --params multiset=on counting < /dev/null
try vidi merge one canon.urls
try vidi merge one counting
try vidi merge one s
echo "-- shape, and kinds that cannot"
for capacity in 100 200; do
    make_state --kind classic --capacity $capacity classic.$capacity < /dev/null
done
try vidi merge new classic.100 classic.200
make_state --kind scalable scalable < /dev/null
try vidi merge new scalable
[ ! -e new ] || echo "new is there"
echo "-- itself, and one twice"
try vidi merge s fits s
try vidi merge s fits ./s/
try vidi merge s fits fits
echo "-- damage"
cp -r fits damaged
damage damaged/set.0000000000000001 200
try vidi merge s fits damaged
vidi info --json s | grep -o -m 1 '"count":[0-9]*' | head -n 1
urls c d e f | make_state --open fits
damage fits/log.0000000000000001 180
try vidi merge s fits
