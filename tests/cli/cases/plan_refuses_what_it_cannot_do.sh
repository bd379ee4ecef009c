try vidi plan
try vidi plan --error 0.01
try vidi plan --kind wibble --urls 1e6 --lost 1
try vidi plan --kind classic --urls 1e6 --memory 1 --error 1e-9
try vidi plan --kind hashset --urls 1e6 --k 3
try vidi plan --param k=3 --urls 1e6 --lost 1
try vidi plan --kind classic --param wibble=3 --urls 1e6 --lost 1
try vidi plan --kind classic --param m=100 --urls 1e6 --lost 1
try vidi plan --urls 1e6 --memory 100 --lost 1
try vidi plan --urls 1e6 --lost -1
try vidi plan 1e6
