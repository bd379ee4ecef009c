urls a b > in
quietly() { vidi "$@" in > /dev/null; }
echo "-- the command that made a state can be used again"
for kind in fingerprint blocked scalable classic counting multilayer eigen spatial hashset sorted list; do
    for time in 1 2; do
        quietly -s $kind --kind $kind --capacity 1000 --error 0.001 2>&1
    done
done
for time in 1 2; do
    quietly -s planned --capacity 100000 --lost 1 2>&1
    quietly -s default 2>&1
    quietly -s exact --capacity 1000 --lost 0 2>&1
    quietly -s param --kind classic --capacity 1e3 --param k=7 2>&1
done
echo "-- other sizes and error rates"
try quietly -s classic --capacity 2000
try quietly -s classic --capacity 1000 --error 1e-6
try quietly -s classic --capacity 2000 --error 1e-6
try quietly -s fingerprint --capacity 1M --error 1e-9
try quietly -s planned --capacity 100000 --lost 1e-6
try quietly -s planned --lost 1e-6 --strict
try quietly -s default --capacity 1e6
try quietly -n -s classic --capacity 2000
echo "-- a lower demand than the state was made for is met"
try quietly -s classic --error 0.01
try quietly -s planned --capacity 100000 --lost 100
echo "-- parameters"
try quietly -s param --param k=8
try quietly -s param --param k=7.0 --param hash=sip13
try quietly -s param --param mode=salted
echo "-- exact kinds take what comes"
try quietly -s hashset --capacity 5
echo "-- keys"
echo 000102030405060708090a0b0c0d0e0f > key
echo 000102030405060708090a0b0c0d0e00 > other
for time in 1 2; do
    try quietly -s keyed --key-file key
    try quietly -s sibling --key-from keyed
done
try quietly -s sibling --key-file key --epoch new
try quietly -s sibling --key-file key
try quietly -s keyed --key-file other
try quietly -s keyed --key-file nowhere
try quietly -s keyed --key-from default
try quietly -n -s default --key-from keyed
echo "-- a budget that nothing checks"
try quietly --lost 5
try quietly -s default --lost 5
try quietly --lost 5 --strict
try quietly --lost 5 --capacity 1000
try quietly --lost 5 --memory 1M
echo "-- no warnings if none are wanted"
try quietly -q -s classic --capacity 2000 --error 1e-9 --param k=2
try quietly -q --lost 5
