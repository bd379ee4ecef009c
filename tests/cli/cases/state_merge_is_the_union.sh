for kind in hashset sorted list; do
    urls a b c | make_state --kind $kind $kind.1
    urls b c d | make_state --kind $kind $kind.2
    vidi snapshot $kind.2 > snapshot
    urls e f a | make_state --kind $kind $kind.3
    try vidi merge $kind.all $kind.1 $kind.2 $kind.3
    make_state --list $kind.all | diff - <(urls a b c d e f)
    vidi check -q $kind.all
    make_state --list $kind.1 | diff - <(urls a b c)
done
echo "-- into one that is there, and from files"
urls g a | make_state --kind hashset out
vidi export hashset.1 file
try vidi merge out file hashset.3
make_state --list out | diff - <(urls a b c e f g)
try vidi merge out file hashset.3
try vidi merge out hashset.2
make_state --list out | diff - <(urls a b c d e f g)
echo "-- the default kind"
make_urls 3000 > lines
first_only lines > unique
split -n l/3 lines part.
for part in part.*; do
    make_state "state.$part" < "$part"
done
vidi merge all state.part.* | sed "s/ $(wc -l < unique | sed 's/\(...\)$/,\1/') URLs/ all URLs/"
