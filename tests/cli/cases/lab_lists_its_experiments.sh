try vidi lab list
try vidi lab show thesis-5.8
try vidi lab show thesis-fig-5.1
