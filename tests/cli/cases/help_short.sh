try vidi -h
try vidi canon -h
try vidi plan -h
try vidi kinds -h
try vidi info -h
try vidi top -h
try vidi check -h
try vidi rotate -h
try vidi snapshot -h
try vidi merge -h
try vidi export -h
try vidi import -h
try vidi robots -h
try vidi sitemap -h
try vidi bench -h
try vidi lab -h
try vidi version -h
try vidi help -h
