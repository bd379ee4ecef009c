printf 'a\nb\0c\r\0a\nb\0c\0d' > in
for option in -z -0 --null; do
    vidi $option --canon none in | tr '\0\n\r' '|_^'
    echo
done
vidi -zc --canon none in | tr '\0\n\r' '|_^'
echo
