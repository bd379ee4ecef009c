man=$VIDI_SOURCE/docs/man
for command in dedup has remove list crawl canon links plan init info top check rotate snapshot merge export import drop robots sitemap bench lab; do
    page=$man/vidi.1
    [ $command = dedup ] || page=$man/vidi-$command.1
    for option in $(vidi $command --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        sed 's/\\-/-/g' "$page" | grep -qE -- "$option\b" || echo "$page does not name $option"
    done
done
for command in $(vidi --help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\).*/\1/p'); do
    grep -q "^\.B $command\$" $man/vidi.1 || echo "vidi.1 does not describe $command"
done
if command -v groff > /dev/null; then
    for page in "$man"/*.1; do
        groff -man -ww -Tascii -z "$page"
    done
fi
