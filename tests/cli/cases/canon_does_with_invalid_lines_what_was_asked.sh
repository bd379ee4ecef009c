printf '%s\n' http://a/ nothing http://b/ > urls
for what in keep drop fail; do
    try vidi canon --invalid $what urls
done
vidi canon --stats urls > /dev/null
try vidi canon --invalid perhaps urls
try vidi canon --canon whatsoever urls
try vidi canon urls missing
