# Ends of SIGPIPE, as other filters do, without a word; also where SIGPIPE is ignored from above.
make_urls 100000 > in
vidi --kind hashset --stats in | head -n 1
echo "status ${PIPESTATUS[0]}"
(trap '' PIPE; vidi --kind hashset in | head -n 1; echo "status ${PIPESTATUS[0]}")
