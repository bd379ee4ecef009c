/*
 * How peers take batches: BENCH_PEER_GROUP URLs are hashed with XXH3 at a time, and then passed to the peer, which
 * prefetches them. Ready hashes are passed to it all at once.
 */
#ifndef VIDI_BENCH_PEER_GROUPS_H
#define VIDI_BENCH_PEER_GROUPS_H

#include "bench/subjects.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t bench_peer_hash(vidi_str url)
{
    return XXH3_64bits(url.ptr, url.len);
}

/* Adds the hashes, or looks them up, and returns how many were there already. */
typedef int64_t bench_take_group(void *peer, const uint64_t *words, size_t n, bool adds);

static inline int64_t bench_in_groups(void *peer, const bench_work *work, bool adds, bench_take_group *take)
{
    uint64_t words[BENCH_PEER_GROUP];
    int64_t seen = 0;
    if (!work->urls)
        return take(peer, work->words, work->count, adds);
    for (size_t done = 0, n; done < work->count; done += n) {
        n = work->count - done < BENCH_PEER_GROUP ? work->count - done : BENCH_PEER_GROUP;
        for (size_t i = 0; i < n; i++)
            words[i] = bench_peer_hash(work->urls[done + i]);
        seen += take(peer, words, n, adds);
    }
    return seen;
}

#endif
