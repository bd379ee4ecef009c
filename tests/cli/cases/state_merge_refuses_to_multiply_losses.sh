# Two blocked sets that have grown lose far more pages together than was asked for: only --force merges them.
seq 1 20000 | sed 's|^|http://a.example/|' > one.txt
seq 20001 40000 | sed 's|^|http://a.example/|' > two.txt
for state in one two; do
    make_state --kind blocked $state.state < $state.txt
    vidi snapshot $state.state > snapshot.txt
done
try vidi merge one.state two.state
vidi has one.state two.txt | wc -l
try vidi merge all.state one.state two.state
ls -d all.state 2>&1
make_state --kind blocked all.state < /dev/null
try vidi merge all.state one.state two.state
vidi has all.state one.txt | wc -l
try vidi merge --force one.state two.state
vidi has one.state one.txt two.txt | wc -l
echo "The same again makes nothing worse."
try vidi merge one.state two.state
echo "-- six sets, all of whose URLs are in logs"
vidi -q -s small1.state --kind classic --capacity 500 --error 0.02 <(seq -f "http://1.example/%.0f" 500) > new
for i in 2 3 4 5 6; do
    vidi -q -s small$i.state --like small1.state <(seq -f "http://$i.example/%.0f" 500) > new
done
vidi merge many.state small?.state 2>&1 | sed -E 's/probability [0-9.]+/probability P/'
ls -d many.state 2>&1
vidi merge --force many.state small?.state > messages
seq -f "http://fresh.example/%.0f" 1000 | vidi -q -s many.state > new
[ "$(wc -l < new)" -ge 500 ] || echo "most fresh URLs would be lost"
