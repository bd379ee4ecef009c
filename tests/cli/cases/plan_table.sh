try vidi plan --kind classic --urls 1e6 --error 0.01
try vidi plan --kind classic --urls 1e6 --lost 1
try vidi plan --kind classic --urls 1e6 --memory 2M
try vidi plan --kind classic --memory 1G --error 1e-6
try vidi plan --kind classic --urls 1e6 --k 3 --multiplier 4
try vidi plan --kind hashset --urls 1e6 --url-bytes 100
