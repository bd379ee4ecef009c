try vidi lab urls --urls 3
try vidi lab urls --urls 2 --run 2 --seed 9
echo "$(vidi lab urls --urls 5000 | sort -u | wc -l) different ones"
