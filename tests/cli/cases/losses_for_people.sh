# An expectation is computed by a formula and is not exact; what is below a millionth of a page is as good as nothing.
make_urls 3000 > in
lost() { grep -e 'expected pages lost' -e 'error rate now'; }
vidi --stats --kind hashset in 2>&1 > /dev/null | lost
vidi --stats --kind fingerprint --param bits=40 in 2>&1 > /dev/null | lost
vidi --stats --kind fingerprint --param bits=32 in 2>&1 > /dev/null | lost
vidi --stats --kind fingerprint in 2>&1 > /dev/null | lost
# In one go nothing could be lost: URLs that wait for a commit are compared exactly.
head -n 1500 in | vidi -s state > /dev/null
tail -n 1500 in | vidi -s state > /dev/null
vidi info state | lost
vidi top --once state | grep lost
# Programs get the numbers as they are. How a pipe cuts the lines into batches decides about the last digit.
vidi info state --json | grep -o '"expected_lost":[0-9.e-]*,"expected_lost_is":"[a-z ]*"' | sed -E 's/(\.[0-9]{10})[0-9]*/\1/'
