vidi canon --rules
