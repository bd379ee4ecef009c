# What two sets have lost, the merged one has lost too, although their logs alone know of it. How many URLs are new, and
# so how much of the losses is, is an estimate. Merging a set again adds nothing, whether OUT is new or not.
lost() { vidi info --json "$1" | jq .expected_lost; }
for part in 1 2 3; do
    seq -f "http://a.example/$part/%.0f" 1000 | vidi -q -s one.state --kind classic --param m=20000 --param k=1 > out
    seq -f "http://b.example/$part/%.0f" 1000 | vidi -q -s two.state --like one.state > out
done
try vidi merge all.state one.state two.state | sed 's/[0-9,]* URLs/all URLs/'
jq -n --argjson one "$(lost one.state)" --argjson two "$(lost two.state)" --argjson all "$(lost all.state)" \
    '($one > 10) and ($two > 10) and $all < ($one + $two) * 1.000001 and $all > ($one + $two) * 0.95'
before=$(lost all.state)
try vidi merge all.state one.state two.state | sed 's/[0-9,]* URLs/all URLs/'
try vidi merge all.state two.state | sed 's/[0-9,]* URLs/all URLs/'
[ "$(lost all.state)" = "$before" ] || echo "$before, then $(lost all.state)"
cp -r one.state copy.state
try vidi merge copies.state one.state copy.state | sed 's/[0-9,]* URLs/all URLs/'
[ "$(lost copies.state)" = "$(lost one.state)" ] || echo "$(lost one.state), twice $(lost copies.state)"
