#!/bin/sh
# robots.txt against public suites in $VIDI_TESTDATA/conformance: the tests of Google's parser, the examples of RFC 9309,
# and verdicts of Google's parser on real files. What is known to differ is in robots_exceptions.txt beside this file.
# One line of TAP a suite.
set -u

data=${VIDI_TESTDATA:-}/conformance
program=${VIDI_BUILD:-build}/tests/robots_cases
exceptions=$(dirname "$0")/robots_exceptions.txt
suites='verdicts-google=robots/google_robotstxt_cases.json
lines-google=robots/google_robotstxt_lines_bom.json
paths-google=robots/google_robotstxt_path_escape.json
rfc-9309=robots/rfc9309_examples.json
real-A=robots_real_A_verdicts.tsv.zst'

echo "1..$(echo "$suites" | wc -l)"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

number=0
failed=0
for entry in $suites; do
    number=$((number + 1))
    suite=${entry%%=*}
    file=$data/${entry#*=}
    if [ -z "${VIDI_TESTDATA:-}" ] || [ ! -r "$file" ]; then
        echo "ok $number - $suite # SKIP no test data"
        continue
    fi
    case $file in
    *.zst)
        # Sorted, so that each file is read once. The files themselves are beside the verdicts.
        zstd -dc "$file" | LC_ALL=C sort >"$work/data" && zstd -dc "${file%_verdicts.tsv.zst}.tar.zst" | tar -xC "$work"
        ;;
    *) cp "$file" "$work/data" ;;
    esac || {
        echo "not ok $number - $suite cannot be unpacked"
        failed=1
        continue
    }
    if "$program" "$suite" "$exceptions" "$work/robots" <"$work/data" >"$work/answer"; then
        echo "ok $number - $suite: $(tail -n 1 "$work/answer")"
    else
        echo "not ok $number - $suite: $(tail -n 1 "$work/answer")"
        head -n 40 "$work/answer" | sed 's/^/# /'
        failed=1
    fi
done
exit $failed
