cat > page.html <<'HTML'
<a href=" ?q=&eacute;" rel="nofollow noopener">one</a><img src=i.png><a href="http://[">
HTML
vidi links --json --resources --base http://h/ page.html | tee out
jq -c '[.url, .position, .element, .attribute, .kind, .nofollow]' out || skip 'there is no jq'
tail -c +"$(($(head -n 1 out | jq .position) + 1))" page.html | head -c 6
echo
echo '<meta name=robots content="noarchive, none"><a href=1><a href=2><img src=3>' > asks.html
try vidi links --about asks.html page.html
try vidi links --json --base http://h/ asks.html
try vidi links --skip-nofollow --base http://h/ asks.html
try vidi links --about --json page.html
