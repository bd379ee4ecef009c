# Anybody can count again: the URLs of a run through a set of the same parameters. (The salts differ, for the program
# chooses its key at random; so only the rates are near one another.)
vidi lab urls --urls 20000 | head -n 20000 > urls
vidi --kind classic --capacity 20000 --param k=1 --param M=2 --param hash=jenkins --canon none urls | wc -l > new
awk -v new="$(cat new)" 'BEGIN { print (new > 15400 && new < 16100) ? "about 21.3 % are lost" : new " are new" }'
