try vidi --kind
try vidi --kind --stats
try vidi --kind=
try vidi --capacity
try vidi --capacity=
try vidi --error
try vidi --param
try vidi --param k
try vidi --param =5
try vidi --stats=yes
try vidi --help=yes
try vidi plan --memory
try vidi plan --json=1
