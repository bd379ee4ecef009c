try vidi --knid hashset
try vidi --kinds
try vidi --cap 5
try vidi --stat
try vidi --something-else
try vidi --this-is-a-very-long-option-that-nobody-would-ever-want=5
try vidi -x
try vidi -Dxh
try vidi --urls 1e6
try vidi plan --stats
try vidi plan --url 1e6
try vidi kinds --kind x
try vidi version --lost
# What a terminal would act on does not reach it.
try vidi "$(printf -- '--a\033[31m\nb')" | cat -v
