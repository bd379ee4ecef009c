#!/bin/bash
# The lab's report in a real browser (Debian's chromium, headless), as wide as a desk and as a phone, light and dark: it
# fits, every link leads somewhere, labels of plots do not lie on one another, text can be read, and nothing is asked of
# the network. A page with faults is looked at likewise, so that the check is known to find them.
# shellcheck source=../../meta/tap.bash
. "$(dirname "$0")/../../meta/tap.bash"

if ! command -v chromium >/dev/null; then
    echo "1..0 # SKIP chromium is not installed"
    exit 0
fi

# look SCHEME: what look.html finds in the pages and plots, in $tmp/found, and what they say to the console.
look() {
    local number=1 # as Blink numbers the schemes
    [ "$1" = light ] || number=0
    (cd "$tmp" && HOME=$tmp chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
        --disable-sync --disable-background-networking --disable-component-update --disable-extensions \
        --disable-dev-shm-usage --user-data-dir="$tmp/profile" --enable-logging=stderr --allow-file-access-from-files \
        --blink-settings=preferredColorScheme=$number --virtual-time-budget=10000 --dump-dom \
        "file://$tmp/look.html#$(echo plots/*.svg | tr ' ' ,)" >dom 2>console)
    sed -n '/<pre/,/<\/pre>/p' "$tmp/dom" | sed 's/<[^>]*>//g' >"$tmp/found"
}

# fits NAME: nothing is wrong with it.
fits() {
    local found
    found=$(grep "^$1: " "$tmp/found")
    [ "$found" = "$1: looked at" ] || { echo "$found" && false; }
}

finds() {
    grep -q "^$1: $2" "$tmp/found" || { head -n 20 "$tmp/found" && false; }
}

all_images() {
    local plot
    for plot in "${plots[@]}"; do
        finds "plots/$(basename "$plot")" "looked at" || return
    done
}

silent() {
    ! grep ":CONSOLE.*$1" "$tmp/console"
}

"$VIDI_BUILD/vidi" lab report --urls 1000 --runs 1 -o "$tmp/report.html" --plots "$tmp/plots" ||
    { echo "Bail out! there is no report" && exit 1; }
cp "$(dirname "$0")/look.html" "$tmp/look.html"
# The same with a link to nowhere, an image from elsewhere, something too wide, pale text and a label on another.
sed -e 's|<main>|<main><a href="#nowhere">x</a><img src="https://elsewhere.invalid/x.png"><p style="width:600px;color:var(--line)">x</p>|' \
    -e '0,/<svg class="plot"/s|<svg class="plot"[^>]*>|&<text x="30" y="20">one</text><text x="30" y="22">two</text>|' \
    "$tmp/report.html" >"$tmp/faulty.html"
plots=("$tmp"/plots/*.svg)
sed 's|</svg>||' "${plots[0]}" >"$tmp/plots/half.svg"

for scheme in light dark; do
    look $scheme
    check "it was looked at in $scheme colours" grep -q "^scheme: $scheme$" "$tmp/found"
    check "a $scheme report fits a desk" fits "report.html 1280"
    check "a $scheme report fits a phone" fits "report.html 390"
done
check "a report says nothing to the console" silent report.html
check "every plot is an image" all_images

for fault in "a link to nowhere: #nowhere" "asks for https://elsewhere.invalid/x.png" "the page is [0-9]* wide" \
    "pale text: x" "one lies on two"; do
    check "a fault is found: ${fault%%:*}" finds "faulty.html 390" "$fault"
done
check "half a plot is none" finds plots/half.svg "is no image"
check "what is asked of the network is said on the console" grep -q ':CONSOLE.*elsewhere' "$tmp/console"
finish
