ok=(--contact me@example.org http://a.example/)
try vidi crawl http://a.example/
try vidi crawl --scope world "${ok[@]}"
try vidi crawl --depth -1 "${ok[@]}"
try vidi crawl --depth 1.5 "${ok[@]}"
try vidi crawl --max-pages 0 "${ok[@]}"
try vidi crawl --max-time 1e10 "${ok[@]}"
try vidi crawl --delay fast "${ok[@]}"
try vidi crawl --jsonl - --json "${ok[@]}"
try vidi crawl --ca-file nothing "${ok[@]}"
try vidi crawl --allow-net 10.0.0.0/33 "${ok[@]}"
try vidi crawl --allow-net home "${ok[@]}"
try vidi crawl --resolve a.example "${ok[@]}"
try vidi crawl --resolve a.example=1.2.3 "${ok[@]}"
try vidi crawl --resolve a.example=10.0.0.0/8 "${ok[@]}"
try vidi crawl --resolve a.example=10.0.0.1, "${ok[@]}"
try vidi crawl --jsnl - "${ok[@]}"
echo -- the head of a request
try vidi crawl --contact $'me\r\nX: 1' http://a.example/
try vidi crawl --contact 'me (and you)' http://a.example/
try vidi crawl --agent $'a\nb' "${ok[@]}"
try vidi crawl --agent 'my bot/1.0' "${ok[@]}"
try vidi crawl --header 'secret' "${ok[@]}"
try vidi crawl --header ': secret' "${ok[@]}"
try vidi crawl --header 'a b: secret' "${ok[@]}"
try vidi crawl --header 'X-Key:' "${ok[@]}"
try vidi crawl --header $'X-Key: secret\r\nHost: b.example' "${ok[@]}" 2>&1 | grep -v '^\$'
try vidi crawl --header 'host: secret' "${ok[@]}"
try vidi crawl --header 'Content-Length: 5' "${ok[@]}"
try vidi crawl --header 'CONNECTION: close' "${ok[@]}"
try vidi crawl --header 'User-Agent: secret' "${ok[@]}"
try vidi crawl --cookies --header 'cookie: secret' "${ok[@]}"
echo -- proxies
try vidi crawl --proxy p.example:3128 "${ok[@]}"
try vidi crawl --proxy http://me:secret@p.example:3128/a "${ok[@]}"
try vidi crawl --proxy socks4://p.example:3128 "${ok[@]}"
try vidi crawl --proxy http://me:secret@p.example:3128 --allow-net loopback http://localhost/
try vidi crawl --proxy socks5h://p.example --resolve a.example=10.0.0.1 "${ok[@]}"
echo -- fleets
try vidi crawl --fleet redis://a.example/b "${ok[@]}"
try vidi crawl --fleet a.example/b -s state "${ok[@]}"
try vidi crawl --fleet redis://a.example/b -s state --kind hashset "${ok[@]}"
try vidi crawl --fleet redis://a.example/b -s state --continuous "${ok[@]}"
try vidi crawl --fleet redis://a.example/b -s state --check "${ok[@]}"
try vidi crawl --fleet redis://a.example/b -s state --lease 0.5 "${ok[@]}"
try vidi crawl --fleet rediss://a.example/b -s state --fleet-cert nothing "${ok[@]}"
try vidi crawl -s redis://a.example/b "${ok[@]}"
try vidi crawl --lease 3 "${ok[@]}"
try vidi crawl --wait-replicas 1 "${ok[@]}"
try vidi crawl status
try vidi crawl status state
try vidi crawl pause --json redis://a.example/b
try vidi crawl stop redis://a.example/b redis://a.example/c
echo -- states
mkdir full
touch full/notes file
try vidi crawl --state full "${ok[@]}"
try vidi crawl --state file "${ok[@]}"
try vidi crawl report
try vidi crawl report one two
try vidi crawl report nothing
try vidi crawl report full
try vidi crawl report --check full
try vidi crawl cdxj --json full
try vidi crawl cdxj nothing
ls full
