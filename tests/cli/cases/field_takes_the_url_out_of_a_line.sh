printf '1\thttp://a.example/\tx\n2\thttp://b.example/\ty\n3\thttp://a.example/\tz\n4\n4\n\t\t\n' > tabs
try vidi --field 2 tabs
try vidi --field 1 --invalid drop tabs
try vidi --field 2 --invalid drop tabs
try vidi --field 2 --invalid fail tabs
cat > commas <<'END'
"a, ""quoted""",http://a.example/,1
b,"http://a.example/",2
c,"http://a.example/?q=""x""",3
d,http://a.example/?q=%22x%22,4
e,"http://a.example/,",5
"f
END
try vidi --field 2 --delimiter , commas
try vidi --field 2 --delimiter '\t' tabs
try vidi --delimiter , commas
try vidi --field 2 --delimiter ab commas
try vidi --field 0 commas
try vidi --field 2 --json-key url commas
