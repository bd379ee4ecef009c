printf '%s\n' ../b '?c' '#d' //other.example/x /y https://z.example '' |
    vidi canon --base https://example.org/a/b/c
echo /x | try vidi canon --base not-a-url
