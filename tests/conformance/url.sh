#!/bin/bash
# URLs against public suites in $VIDI_TESTDATA/conformance: web-platform-tests and others for the URL Standard, the
# examples of RFC 3986, and links of real pages. What is known to differ is in url_exceptions.txt beside this file. One
# line of TAP a suite.
set -u
# shellcheck source=suites.bash
. "$(dirname "$0")/suites.bash"

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

run_suites "${VIDI_BUILD:-build}/tests/url_cases" "$(dirname "$0")/url_exceptions.txt" "$suites"
