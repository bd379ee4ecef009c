# Some programs put one before text in UTF-8; it is part neither of the first URL nor of the output.
bom='\357\273\277'
printf "${bom}http://a.example/\nhttp://b.example/\n" > marked
urls b a > plain
try vidi marked plain
try vidi plain marked
gzip -c marked > packed
try vidi plain packed
printf "$bom" | try vidi
printf "${bom}x\n" | dd bs=1 status=none | vidi --canon none | od -An -c
# Inside a file, and a part of it, are bytes like others.
printf "x\n${bom}y\n" | vidi --canon none | od -An -c
for part in '\357' '\357\273' '\357\273x\n' '\377' '\377x\n'; do
    printf "$part" | vidi --canon none | od -An -c
done
# Lists of tracking parameters too.
printf "${bom}from\n" > list
printf 'http://a.example/?from=x\nhttp://a.example/\n' | vidi --canon crawl --tracking list
# UTF-16 cannot be read, in either byte order.
printf '\377\376h\0t\0t\0p\0' > little
printf '\376\377\0h\0t\0t\0p' > big
try vidi little
try vidi big
gzip -c little > packed
try vidi packed
