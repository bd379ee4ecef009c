#!/bin/bash
# robots.txt against public suites in $VIDI_TESTDATA/conformance: the tests of Google's parser, the examples of RFC 9309,
# and verdicts of Google's parser on real files. What is known to differ is in robots_exceptions.txt beside this file.
# One line of TAP a suite.
set -u -o pipefail
# shellcheck source=suites.bash
. "$(dirname "$0")/suites.bash"

suites='verdicts-google=robots/google_robotstxt_cases.json
lines-google=robots/google_robotstxt_lines_bom.json
paths-google=robots/google_robotstxt_path_escape.json
rfc-9309=robots/rfc9309_examples.json
real-A=robots_real_A_verdicts.tsv.zst'

# The verdicts are sorted, so that each file is read once. The files themselves are beside the verdicts.
unpack() {
    case $1 in
    *.zst) zstd -dc "$1" | LC_ALL=C sort && zstd -dc "${1%_verdicts.tsv.zst}.tar.zst" | tar -xC "$2" ;;
    *) cat "$1" ;;
    esac
}

run_suites "${VIDI_BUILD:-build}/tests/robots_cases" "$(dirname "$0")/robots_exceptions.txt" "$suites"
