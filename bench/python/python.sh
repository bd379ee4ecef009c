#!/bin/bash
# Measures the Python package: sets.py compares it with Python's own set, filters.py with Scrapy's dupe filter.
# schedulers.py, which crawls for minutes, is run by hand.
#
#   bench/python/python.sh BUILD [URLS] [ROUNDS]      default: 1e4,1e6,1e7 URLs, 5 rounds
#
# URLS may be several numbers, divided by commas. Prints tables and adds rows to BUILD/bench.json.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd)
urls=${2:-1e4,1e6,1e7}
rounds=${3:-5}
python=${VIDI_PYTHON:-/usr/bin/python3}
export PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
"$python" -c 'import vidi' 2>/dev/null || { echo "Python is not measured: this build has no package for it." >&2; exit 0; }
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

"$python" "$here/sets.py" "$urls" "$rounds" "$rows"
if "$python" -c 'import scrapy' 2>/dev/null; then
    "$python" "$here/filters.py" "$rounds" "$rows"
else
    echo "Scrapy's dupe filter is not measured: Scrapy is not installed." >&2
fi
"$here/../add_rows.sh" "$build/bench.json" python <"$rows"
