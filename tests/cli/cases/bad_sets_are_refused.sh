# The library's refusals, as the user sees them.
try vidi --kind wibble
try vidi --kind Classic
for param in k=0 k=-1 k=abc k= k=1e30 wibble=1 k=3,k=4; do
    try vidi --kind classic --capacity 1000 --param "$param"
done
try vidi --kind classic --capacity 1000 --param k=3 --param k=4
try vidi --kind classic --capacity 1e19
try vidi --kind counting --capacity 1e18
try vidi --kind classic
