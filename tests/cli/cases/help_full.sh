try vidi --help
try vidi has --help
try vidi canon --help
try vidi plan --help
try vidi kinds --help
try vidi info --help
try vidi top --help
try vidi check --help
try vidi rotate --help
try vidi snapshot --help
try vidi merge --help
try vidi export --help
try vidi import --help
try vidi bench --help
try vidi lab --help
try vidi version --help
try vidi help --help
