cat > page.html <<'HTML'
<!DOCTYPE html>
<meta charset=utf-8><title><a href=no></title>
<base href="/docs/"><link rel=canonical href=page.html>
<a href="a?x=1&amp;y=2">one</a> <A HREF=../b#top rel="nofollow">two</A> <a href="mailto:me@example.org">three</a>
<area href=//other.example/c> <iframe src=frame.html></iframe> <img src=image.png srcset="big.png 2x">
<template><a href=inert></template><script>document.write('<a href=script>')</script>
<svg><a xlink:href=drawing></a></svg><meta http-equiv=refresh content="5; url=next.html">
HTML
try vidi links --base https://example.org/x/y.html page.html
try vidi links --base https://example.org/ --resources page.html
try vidi links --base https://example.org/ --skip-nofollow page.html
echo '<a href=1>' | try vidi links --base https://example.org/
echo '<a href=1>' | try vidi links --base https://example.org/ - page.html -
gzip -k page.html
vidi links --base https://example.org/ page.html.gz | cmp - <(vidi links --base https://example.org/ page.html)
try vidi links --base https://example.org/ /dev/null
