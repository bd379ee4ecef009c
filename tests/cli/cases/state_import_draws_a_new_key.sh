# Whoever wrote an exported set knows its key. Sets that keep their URLs can get another one.
for kind in hashset sorted list; do
    urls a b c | vidi --kind $kind --state $kind.state > urls.txt
    vidi export $kind.state $kind.vidi
    try vidi import --new-key $kind.copy $kind.vidi
    try vidi list $kind.copy
done
echo "-- every add of a multiset is kept"
urls a a b | make_state --kind hashset --params multiset=on times.state
vidi export times.state | vidi import --new-key times.copy
try vidi list --json times.copy | sed -E 's/"hash":"[0-9a-f]+"/"hash":"*"/'
echo "-- the key is another one, so the hashes are others"
vidi import same.copy hashset.vidi > /dev/null
for state in hashset.state same.copy hashset.copy; do
    vidi list --hashes $state | sort > $state.hashes
done
cmp hashset.state.hashes same.copy.hashes
comm -12 hashset.state.hashes hashset.copy.hashes | wc -l
echo "-- kinds that keep hashes alone"
urls a b c | vidi --state fingerprint.state > urls.txt
vidi export fingerprint.state fingerprint.vidi
try vidi import --new-key copy fingerprint.vidi
cat fingerprint.vidi | try vidi import --new-key copy
ls -d copy 2>&1
try vidi import --new-key hashset.copy hashset.vidi
