#!/bin/bash
# The kernels for arm64 give the same answers as the portable ones: their tests under qemu, in the long run only.
if [ -z "${VIDI_TEST_LONG-}" ]; then
    echo "1..1"
    echo "ok 1 - arm64 # SKIP it takes some minutes; make test-arm64 or make test-long runs it"
    exit 0
fi
exec "$VIDI_SOURCE/tools/arm64.sh"
