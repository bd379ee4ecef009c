#!/bin/bash
# tools/build.sh PRESET [OPTION]...: configures and builds a preset. Options go to `cmake --build`.
#
# On success it prints nothing except compiler warnings, and one line of progress on a terminal. On failure it prints
# what failed.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$1
shift

cmake --preset "$preset" >/dev/null
if [ -t 1 ]; then
    cmake --build --preset "$preset" "$@"
else
    cmake --build --preset "$preset" "$@" -- --quiet | sed '/^ninja: no work to do/d'
fi
