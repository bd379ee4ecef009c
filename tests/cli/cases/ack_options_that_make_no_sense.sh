urls a > in
mkdir folder
for options in "--ack 3" "-n -s st --ack acks" "-D -s st --ack acks" "-s st --ack missing" "-s st --ack ''" \
    "-s st --ack in" "-s st --ack folder" "-s st --ack 7" "-s st --ack 8" "-s st --ack 9" "-s st --ack 99999999999999999999"; do
    eval try vidi "$options" in 8> out 9< in
done
try vidi -s st --ack 0
try vidi -s st --ack 0 - in
[ -e st ] || echo "no state was made"
