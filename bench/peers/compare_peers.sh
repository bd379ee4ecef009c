#!/bin/bash
# bench/peers/compare_peers.sh BUILD OUTPUT [ROUNDS]: compares the times of the lab's own implementations of other people's
# filters with those of public ones (peer_times.cpp), and writes their ratios to OUTPUT, which the lab is built with.
# The lab shows times of a filter only if all of its ratios are at most 1.3; a filter that is not compared has none. The
# name of a public implementation ends with the version of its Debian package.
set -euo pipefail
build=$1 output=$2 rounds=${3:-11}
folder=$(cd "$(dirname "$0")" && pwd)

# Debian installs sources of Go packages here; nothing is fetched from the network.
go_sources=/usr/share/gocode
cuckoo=
if command -v go >/dev/null && [ -d "$go_sources/src/github.com/seiflotfy/cuckoofilter" ]; then
    cuckoo=$build/bench/cuckoo-times
    GO111MODULE=off GOPATH=$go_sources GOFLAGS=-buildvcs=false GOCACHE=$(realpath "$build")/go-cache \
        go build -o "$cuckoo" "$folder/cuckoo_times.go"
else
    echo "compare_peers.sh: without the cuckoo filter in Go, which is not installed" >&2
fi

new=$(mktemp)
trap 'rm -f "$new"' EXIT
"$build/bench/vidi-peer-times" "$rounds" "$new" ${cuckoo:+"$cuckoo"}
version() {
    dpkg-query -W -f '${source:Upstream-Version}' "$1" 2>/dev/null || true
}
sed -e "s/absl::flat_hash_set/& $(version libabsl-dev)/" -e "s/librocksdb/& $(version librocksdb-dev)/" \
    -e "s/cuckoofilter in Go/& $(version golang-github-seiflotfy-cuckoofilter-dev)/" "$new" >"$output"
