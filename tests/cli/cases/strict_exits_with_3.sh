make_urls 2000 > in
vidi --kind classic --capacity 100 --strict in > out 2> err
echo "status $?"
sed 's/[0-9,]* URLs in/N URLs in/' err
vidi --kind classic --capacity 100 -q in > /dev/null
echo "status $?"
vidi --kind classic --capacity 1e4 --strict in | wc -l
vidi --kind classic --error 0.1 --capacity 1e4 --lost 1e-9 --strict < in > out 2> err
echo "status $?"
vidi --kind classic --param m=20000 --param k=1 --lost 0.5 --strict < in > out 2> err
echo "status $?"
sed 's/lost: [0-9.]*/lost: N/' err
