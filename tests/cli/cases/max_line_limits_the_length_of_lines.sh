# Lines beyond the limit are errors that name the file, the line and the limit; the lines before them are dealt with.
line() { head -c "$1" /dev/zero | tr '\0' x; echo; }
{ echo a; echo b; line 3000000; echo c; } > in
{ echo a; line 100; echo b; } > short
count() { awk '{ print length }'; }
vidi --canon none in | count
echo "-- in any place, with or without an end"
try vidi --canon none --max-line 1M in
try vidi --canon none --max-line 2999999 in
vidi --canon none --max-line 3000000 in | count
try vidi --canon none --max-line 99 short
vidi --canon none --max-line 100 short | count
try vidi --canon none --max-line 50 in short
printf 'a\nbbbb' | try vidi --canon none --max-line 3
printf 'a\r\nbbb\r\ncccc\r\n' | try vidi --canon none --max-line 3
printf 'a\0bbb\0cccc\0' | try vidi --canon none --null --max-line 3 | tr '\0' '\n'
echo "-- it follows from --memory"
try vidi --canon none --memory 16M in | cut -c 1-200
try vidi --canon none --memory 1M in | cut -c 1-200
vidi --canon none --memory 48M in | count
vidi --canon none --memory 16M --max-line 3M in | count
echo "-- a small file that is large when it is unpacked"
{ echo a; head -c 300000000 /dev/zero | tr '\0' x; echo; } | gzip -1 > bomb.gz
/usr/bin/env bash -c 'ulimit -v 400000; vidi --canon none --memory 32M --threads 1 bomb.gz'
echo "status $?"
echo "-- other commands"
echo a | vidi --canon none --state s
try vidi has --max-line 1M s in
try vidi remove --max-line 99 s short
try vidi has --max-line 0 s in
