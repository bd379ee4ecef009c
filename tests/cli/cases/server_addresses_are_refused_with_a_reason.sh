# Commands that cannot take an address say what to do instead, and no message shows a password.
a=redis://user:hushhush@localhost:1/crawl
vidi info redis://localhost:1/none 2>&1 | grep -q VIDI_WITH_FLEET && skip "built without VIDI_WITH_FLEET"
urls a > in
echo "-- commands"
try vidi "$a" < in
try vidi in "$a"
try vidi snapshot "$a"
try vidi import "$a" in
try vidi --like "$a" -s new in
try vidi drop folder
echo "-- options"
for option in '--epoch new' --wait --accept-damage '--capacity 5' '--memory 1M' '--param k=1' '--like x' '--key-file x'; do
    # shellcheck disable=SC2086
    try vidi -s "$a" $option in
done
try vidi rotate --wait "$a"
try vidi remove --accept-damage "$a" in
try vidi export --accept-damage "$a" out
try vidi merge --wait "$a" in
try vidi init "$a" --like x
try vidi init folder --shards 3
try vidi rotate --force folder
try vidi -s folder --wait-replicas 1 in
try vidi -s "$a" --ca-file in in
try vidi -s "${a/redis/rediss}" --cert-file in in
try vidi -s "${a/redis/rediss}" --ca-file nowhere in
echo "-- addresses"
for address in redis://localhost redis://localhost:1/ 'redis://localhost:1/a b' redis://localhost:99999/x redis:///x; do
    try vidi info "$address" 2>&1 | sed "s,: cannot connect.*,: cannot connect,"
done
try vidi info "$a"
