# Options may follow files; "--" ends them; a file may have the name of an option or a command.
echo a > one
echo b > --kind
echo c > plan
try vidi one --kind hashset
try vidi --kind=hashset -- one --kind
try vidi ./plan
try vidi dedup plan
try vidi -- plan
