#!/bin/sh
# URLs against public suites in $VIDI_TESTDATA/conformance: web-platform-tests and others for the URL Standard, the
# examples of RFC 3986, and links of real pages. What is known to differ is in url_exceptions.txt beside this file. One
# line of TAP a suite.
set -u

data=${VIDI_TESTDATA:-}/conformance
program=${VIDI_BUILD:-build}/tests/url_cases
exceptions=$(dirname "$0")/url_exceptions.txt
suites='parse-wpt=wpt/urltestdata.json
parse-wpt-javascript=wpt/urltestdata-javascript-only.json
parse-ada=wpt/ada_extra_urltestdata.json
parse-ada-long=wpt/ada_long_urltestdata.json
host-toascii=wpt/toascii.json
host-idna=wpt/IdnaTestV2.json
host-idna-removed=wpt/IdnaTestV2-removed.json
percent-wpt=wpt/percent-encoding.json
resolve-rfc3986=resolve/rfc3986_5_4.json
resolve-crawler-commons=resolve/crawler_commons_url_resolve.json
triples-real=resolve_triples_A.jsonl.zst'

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
    *.zst) unpack='zstd -dc' ;;
    *) unpack='cat' ;;
    esac
    if ! $unpack "$file" >"$work/data"; then
        echo "not ok $number - $suite cannot be unpacked"
        failed=1
    elif ! "$program" "$suite" "$exceptions" <"$work/data" >"$work/answer"; then
        echo "not ok $number - $suite: $(tail -n 1 "$work/answer")"
        head -n 40 "$work/answer" | sed 's/^/# /'
        failed=1
    elif grep -qx absent "$work/answer"; then
        echo "ok $number - $suite # SKIP this build has no ICU"
    else
        echo "ok $number - $suite: $(tail -n 1 "$work/answer")"
    fi
done
exit $failed
