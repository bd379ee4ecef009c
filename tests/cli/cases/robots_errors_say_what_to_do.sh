try vidi robots
try vidi robots missing.txt http://h/
try vidi robots --agent 'vidi/1.0' /dev/null http://h/
try vidi robots --agent '' /dev/null http://h/
try vidi robots - < /dev/null
try vidi robots --json - http://h/ - < /dev/null
try vidi robots --json -q /dev/null
try vidi robots . http://h/
