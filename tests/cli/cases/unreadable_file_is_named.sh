# Nothing is printed, not even of the file before it.
echo a > good
echo b > secret
chmod 000 secret
chmod 755 .
as_nobody=
if [ "$(id -u)" = 0 ]; then
    as_nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
    command -v setpriv > /dev/null || skip "root reads everything, and setpriv is missing"
    $as_nobody "$VIDI_BUILD/vidi" version > /dev/null 2>&1 || skip "root reads everything, and nobody cannot run vidi"
fi
$as_nobody "$VIDI_BUILD/vidi" --kind hashset good secret
