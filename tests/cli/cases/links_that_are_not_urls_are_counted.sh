echo '<a href=1><a href="http://["><a href=http://h/>' > page.html
try vidi links page.html
try vidi links --base http://h/ page.html
try vidi links --base relative page.html
try vidi links absent.html
vidi links --base http://h/ page.html > /dev/full
echo "status $?"
