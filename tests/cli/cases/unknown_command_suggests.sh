try vidi plna --urls 1e6
try vidi kind
try vidi hlep
try vidi wibble
try vidi ''
try vidi help plna
try vidi help wibble
try vidi help plan kinds
