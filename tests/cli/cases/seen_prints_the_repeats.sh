printf '%s\n' a b a c a b > in
try vidi -D in
try vidi --seen --canon none in
