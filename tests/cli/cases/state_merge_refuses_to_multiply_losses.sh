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
