# A torn last line of a file that is appended to must not swallow the first line of the next run.
urls a b > in
printf 'http://torn.exam' > out
vidi -s st in >> out
cat out
vidi has st in | grep -vxFf out
echo "-- nothing to say about whole lines, and about files that begin here"
vidi -s st <(urls c) >> out
vidi -s st <(urls d) > new
tail -n 1 out
cat new
echo "-- NUL ends lines"
printf 'a\n' > out.nul
printf 'http://e.example/\0' | vidi -z -s st 2> /dev/null >> out.nul
tr '\0' '|' < out.nul; echo
