#!/bin/bash
# Includes point one way only: base <- cpu, hash, url <- filters <- store, set, durable <- inside <- code above lib/.
# Code above lib/ may include its own folder and the public header; lab, bench and fuzz also lib/inside/inside.h, which
# includes no header of lib/. common/ is below the front ends and beside lib/: it includes libc alone. lab/program also
# includes the program's ui; bench may include lab/peers/peer_filters.h.
# Only the crawler's commands include headers of the crawler, whose folders have directions of their own, and so have
# the rooms of cli/pipeline, of redis (server, claims <- value <- commands) and of fleet (redis <- set, members <- links). No kind includes another kind's header.
# shellcheck source=tap.bash
. "$(dirname "$0")/tap.bash"

# kinds ROOT: prints the names of the files in lib/filters that define a kind of the same name.
kinds() {
    local file name
    for file in "$1"/lib/filters/*.c "$1"/lib/filters/*/*.c; do
        name=$(basename "$file" .c)
        ! grep -q "^const vidi__kind vidi__kind_$name\b" "$file" 2>/dev/null || printf '%s ' "$name"
    done
}

# violations ROOT: prints a line for every forbidden include below ROOT.
violations() {
    (cd "$1" && find include lib common fleet cli lab redis python crawler bench examples fuzz \( -name '*.[ch]' -o -name '*.cpp' \) -exec \
        grep -HE '^[[:space:]]*#[[:space:]]*include' {} + 2>/dev/null) |
        awk -v kinds="$(kinds "$1")" -f "$VIDI_SOURCE/tests/meta/includes.awk"
}

none_in() {
    local found
    found=$(violations "$1")
    [ -z "$found" ] || { echo "$found" && false; }
}

# planted FILE INCLUDE: succeeds if the check finds this include in a tree that is otherwise correct.
planted() {
    rm -rf "$tmp/tree"
    mkdir -p "$tmp/tree/lib/filters" "$(dirname "$tmp/tree/$1")"
    echo 'const vidi__kind vidi__kind_classic = {' >"$tmp/tree/lib/filters/classic.c"
    echo "#include $2" >>"$tmp/tree/$1"
    [ "$(violations "$tmp/tree")" ]
}

not_planted() {
    ! planted "$@"
}

check "every include points the right way" none_in "$VIDI_SOURCE"
check "there are includes to look at" grep -rq '#include "base/base.h"' "$VIDI_SOURCE/lib"

# The check must find planted violations; otherwise finding nothing would prove nothing.
while read -r file include; do
    check "$file must not include $include" planted "$file" "$include"
done <<'LIST'
lib/base/x.c "hash/hash.h"
lib/base/x.h "filters/filter.h"
lib/hash/x.c "url/parse/url.h"
lib/url/parse/x.c "hash/hash.h"
lib/url/parse/x.c "url/canon/canon.h"
lib/url/parse/x.c "url/quick/is_canonical.h"
lib/url/quick/x.c "url/canon/canon.h"
lib/filters/x.c "url/parse/url.h"
lib/filters/x.c "store/store.h"
lib/filters/x.c "set/set.h"
lib/filters/x.c "filters/classic.h"
lib/filters/x.c "classic.h"
lib/filters/x.h "filters/classic.h"
lib/filters/x.c "filters/classic.c"
lib/filters/x.c "filters/blocked/layer.h"
lib/filters/blocked/x.c "filters/fingerprint/table.h"
lib/filters/blocked/x.c "set/set.h"
lib/filters/blocked/x.c "filters/classic.h"
lib/frame/x.c "filters/filter.h"
lib/frame/x.c "store/file.h"
lib/store/x.c "url/parse/url.h"
lib/store/x.c "set/set.h"
lib/set/x.c "store/file.h"
lib/set/x.c "store/log.h"
lib/set/x.c "durable/durable.h"
lib/set/x.c "filters/fingerprint/table.h"
lib/set/x.c "cli/cli.h"
lib/set/x.c "../url/url.h"
lib/set/x.c "vidi/cluster.h"
redis/x.c "vidi/cluster.h"
cli/x.c "base/base.h"
cli/commands/x.c "base/base.h"
cli/commands/x.c "lab/engine/lab.h"
cli/ui/x.c "lib/base/base.h"
cli/x.c "lib/base/base.h"
bench/x.c "set/set.h"
bench/x.c "filters/filter.h"
bench/x.cpp "filters/filter.h"
bench/ready.c "filters/filter.h"
bench/ready.c "../lib/filters/filter.h"
bench/x.c "lib/inside/other.h"
bench/x.c "lab/peers/peers.h"
bench/x.c "lab/engine/lab.h"
fuzz/x.c "lab/peers/peer_filters.h"
fuzz/x.c "store/store.h"
fuzz/fuzz_log.c "lib/store/log_format.h"
fuzz/fuzz_map.c "set/set.h"
examples/x.c <vidi/other.h>
examples/x.c "lib/inside/inside.h"
cli/x.c "lab/engine/lab.h"
cli/commands/lab.c "lab/engine/lab.h"
cli/ui/lab.c "lab/engine/lab.h"
lab/program/x.c "base/base.h"
lab/program/x.c "lib/inside/inside.h"
lab/program/x.c "commands/crawl/crawl.h"
lab/program/x.c "pipeline/job.h"
lab/engine/x.c "ui/output.h"
lab/x.c "base/base.h"
lab/x.c "cli/ui/output.h"
lab/engine/filter_run.c "filters/bloom_bits.h"
lab/engine/buckets.h "lib/hash/positions.h"
lib/base/x.c "lab/engine/lab.h"
lib/base/x.c "crawler/robots/robots.h"
lab/x.c "crawler/robots/robots.h"
cli/x.c "crawler/robots/robots.h"
cli/commands/canon.c "crawler/robots/robots.h"
crawler/robots/x.c "url/parse/url.h"
crawler/robots/x.c "lib/url/parse/url.h"
crawler/robots/x.c "lib/inside/inside.h"
crawler/robots/x.c "cli/ui/output.h"
common/x.c "vidi/vidi.h"
common/x.c "base/base.h"
common/x.c "cli/cli.h"
common/x.c "crawler/base/bytes.h"
common/x.c <vidi/vidi.h>
lib/base/x.c "common/clock.h"
lib/base/x.c "common/output_file.h"
lib/durable/x.c "common/output_file.h"
examples/x.c "common/output_file.h"
lib/inside/inside.h "base/base.h"
lib/inside/inside.h "inside_bloom.h"
lib/inside/x.c "filters/classic.h"
lib/inside/x.c "lab/engine/lab.h"
lib/set/x.c "inside/inside.h"
lib/durable/x.c "inside/inside.h"
include/vidi/x.h "base/base.h"
crawler/html/x.c "base/base.h"
redis/x.c "base/base.h"
redis/x.c "lib/inside/inside.h"
redis/x.c "cli/ui/output.h"
redis/x.c "crawler/base/bytes.h"
redis/server/x.c "redis/value/value.h"
redis/server/x.c "redis/claims/claims.h"
redis/claims/x.c "redis/server/server.h"
redis/value/x.c "redis/commands/commands.h"
cli/x.c "redis/value/value.h"
python/extension/x.c "base/base.h"
python/extension/x.c "set/set.h"
python/extension/x.c "lib/inside/inside.h"
python/extension/x.c "redis/value/value.h"
python/extension/x.c <vidi/other.h>
redis/x.c "python/extension/extension.h"
crawler/html/x.c "lib/inside/inside.h"
crawler/html/x.c "cli.h/cli.h"
crawler/html/x.c "crawler/robots/robots.h"
crawler/html/x.c "crawler/robots/rules.inc"
crawler/html/x.c "crawler/encoding/indexes.h"
crawler/encoding/x.c "crawler/html/html.h"
lib/base/x.c "crawler/html/html.h"
lab/engine/x.c "crawler/html/html.h"
cli/commands/canon.c "crawler/html/html.h"
cli/commands/links.c "crawler/html/page.h"
cli/pipeline/links.c "crawler/html/html.h"
crawler/robots/x.c "crawler/base/bytes.h"
crawler/base/x.c "crawler/fetch/fetch.h"
crawler/fetch/x.c "crawler/http/http_text.h"
crawler/frontier/x.c "crawler/database/database.h"
crawler/harvest/x.c "crawler/crawl/crawl.h"
crawler/harvest/x.c "crawler/fetch/addresses.h"
crawler/politeness/x.c "crawler/fetch/fetch.h"
crawler/crawl/fetcher/x.c "crawler/crawl/storage/storage.h"
crawler/crawl/x.c "crawler/crawl/storage/storage.h"
crawler/crawl/fetcher/x.c "crawler/fetch/dns_cache.h"
cli/commands/crawl/crawl.c "crawler/crawl/storage/storage.h"
cli/commands/links.c "crawler/base/bytes.h"
fleet/redis/x.c "base/base.h"
fleet/redis/x.c "fleet/set/shards.h"
fleet/redis/x.c "crawler/base/bytes.h"
fleet/redis/x.c "redis/value/value.h"
fleet/set/x.c "fleet/members/members.h"
fleet/set/x.c "cli/ui/output.h"
fleet/members/x.c "fleet/set/shards.h"
fleet/members/x.c "fleet/links/fleet.h"
fleet/links/x.c "fleet/set/shards.h"
crawler/crawl/x.c "fleet/redis/redis.h"
crawler/crawl/x.c "fleet/set/shards.h"
crawler/crawl/x.c "fleet/members/heartbeat.h"
cli/x.c "fleet/redis/redis.h"
redis/x.c "fleet/redis/redis.h"
lab/x.c "fleet/members/members.h"
common/x.c "fleet/members/members.h"
lib/set/x.c "fleet/set/shards.h"
lib/set/x.c "vidi/cluster.h"
redis/x.c "vidi/cluster.h"
common/x.c "vidi/cluster.h"
LIST
while read -r file include; do
    check "$file may include $include" not_planted "$file" "$include"
done <<'LIST'
crawler/harvest/x.c "crawler/fetch/fetch.h"
crawler/fetch/x.c "crawler/http/http.h"
crawler/crawl/x.c "crawler/politeness/politeness.h"
crawler/crawl/fetcher/x.c "crawler/politeness/politeness.h"
crawler/crawl/fetcher/x.c "crawler/crawl/crawl_state.h"
crawler/crawl/fetcher/x.c "crawler/crawl/fetcher/fetcher.h"
crawler/fetch/x.c "crawler/base/bytes.h"
cli/commands/crawl/crawl_report.c "crawler/report/report.h"
lib/base/x.c "vidi/vidi.h"
lib/hash/x.c "base/base.h"
lib/url/canon/x.c "url/quick/is_canonical.h"
lib/url/quick/x.c "url/parse/url.h"
lib/filters/x.c "hash/positions.h"
lib/filters/x.c "filters/filter.h"
lib/filters/classic.c "filters/classic.h"
lib/filters/blocked/x.c "filters/filter.h"
lib/filters/blocked/x.c "filters/blocked/layer.h"
lib/filters/exact/classic.c "filters/exact/classic.h"
lib/frame/x.c "base/stream.h"
lib/set/x.c "frame/frame.h"
lib/durable/x.c "set/set.h"
lib/durable/x.c "store/log.h"
lib/set/x.c "url/parse/url.h"
lib/inside/inside.h "vidi/vidi.h"
lib/inside/x.c "inside/inside.h"
lib/inside/x.c "durable/durable.h"
bench/ready.c "bench.h"
bench/ready.c "lib/inside/inside.h"
bench/x.cpp "bench.h"
bench/x.cpp "lab/peers/peer_filters.h"
fuzz/fuzz_log.c "lib/inside/inside.h"
lab/x.c "lab/engine/lab.h"
lab/engine/filter_run.c "lib/inside/inside.h"
lab/program/x.c "lab/engine/lab.h"
lab/program/x.c "ui/output.h"
lab/program/x.c "common/clock.h"
redis/server/x.c "common/bytes.h"
python/extension/x.c "common/bytes.h"
crawler/robots/x.c "common/glob.h"
bench/x.c "common/json.h"
lab/program/x.c "pipeline/input/lines.h"
cli/commands/robots.c "crawler/robots/robots.h"
fuzz/fuzz_robots.c "crawler/robots/robots.h"
crawler/robots/x.c "crawler/robots/robots.h"
crawler/robots/x.c "vidi/vidi.h"
cli/x.c "cli.h"
cli/x.c "vidi/vidi.h"
cli/x.c "vidi/cluster.h"
cli/x.c <stdio.h>
examples/x.c <vidi/vidi.h>
redis/value/x.c "value.h"
redis/value/x.c "redis/claims/claims.h"
redis/commands/x.c "redis/value/value.h"
redis/module.c "redis/commands/commands.h"
redis/x.c <vidi/vidi.h>
python/extension/x.c "extension.h"
python/extension/x.c <vidi/vidi.h>
python/extension/x.c <Python.h>
crawler/html/x.c "crawler/html/page.h"
crawler/html/x.c "crawler/html/entities.inc"
crawler/html/x.c "crawler/encoding/encoding.h"
crawler/html/x.c "vidi/vidi.h"
cli/commands/links.c "crawler/html/html.h"
fuzz/x.c "crawler/html/tokenizer.h"
fleet/redis/x.c "fleet/redis/redis.h"
fleet/redis/x.c "common/bytes.h"
fleet/set/x.c "fleet/redis/redis.h"
fleet/set/x.c "vidi/cluster.h"
fleet/members/x.c "fleet/redis/redis.h"
fleet/members/x.c "vidi/url.h"
fleet/links/x.c "fleet/members/heartbeat.h"
fleet/links/x.c "fleet/redis/redis.h"
fleet/links/x.c "vidi/cluster.h"
crawler/crawl/x.c "fleet/links/fleet.h"
crawler/crawl/fetcher/x.c "fleet/members/members.h"
crawler/crawl/x.c "vidi/cluster.h"
cli/x.c "vidi/cluster.h"
cli/x.c "fleet/links/fleet.h"
python/extension/x.c <vidi/cluster.h>
examples/x.c <vidi/cluster.h>
bench/x.c "fleet/members/members.h"
LIST
finish
