try vidi version
try vidi --version
header=$VIDI_SOURCE/include/vidi/vidi.h
version=$(sed -nE 's/^#define VIDI_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)/\2/p' "$header" | paste -sd.)
[ "$(vidi version)" = "vidi $version" ] && echo "as in the header"
