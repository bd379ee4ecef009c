try vidi --help
try vidi canon --help
try vidi plan --help
try vidi kinds --help
try vidi version --help
try vidi help --help
