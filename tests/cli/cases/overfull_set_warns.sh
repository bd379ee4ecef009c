# A kind that cannot grow says at the end that it was too small; one that was large enough says nothing. Counts differ
# from run to run with the set's key.
make_urls 5000 > in
hide() { sed -E 's/: ([0-9.,]+) URLs/: * URLs/; s/lost: (at least )?[0-9][0-9.,]*;/lost: \1*;/'; }
vidi --kind classic --capacity 1000 --error 0.01 in 2>&1 > /dev/null | hide
vidi --kind classic --capacity 5000 --error 0.01 in 2>&1 > /dev/null
vidi --kind scalable --capacity 1000 in 2>&1 > /dev/null
# So full that it no longer says new: what it has lost is more than it can count, and it says so.
vidi --kind classic --capacity 100 --error 0.01 in 2>&1 > /dev/null | hide
vidi --kind classic --capacity 5000 --param m=64,k=7 --stats in 2>&1 > /dev/null | hide | grep -E 'warning|^expected' |
    sed -E 's/(lost +at least )[0-9.,]+;/\1*;/'
