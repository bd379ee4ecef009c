echo a > good
mkdir folder
try vidi good folder
