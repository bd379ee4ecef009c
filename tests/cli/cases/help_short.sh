try vidi -h
try vidi canon -h
try vidi plan -h
try vidi kinds -h
try vidi version -h
try vidi help -h
