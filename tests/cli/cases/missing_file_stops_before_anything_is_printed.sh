# All the files that are missing are named.
echo a > good
try vidi good missing also/missing
try vidi --kind hashset good ''
