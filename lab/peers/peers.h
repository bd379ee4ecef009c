/*
 * The filters people use now, against vidi's kinds: at equal bits, at equal losses, in time, and by what they can do.
 * Every structure gets the same keyed hashes, so that only the structure differs. This header declares what the files
 * share; peers_claims.c draws conclusions.
 */
#ifndef VIDI_LAB_PEERS_PEERS_H
#define VIDI_LAB_PEERS_PEERS_H

#include "lab/urls/run_urls.h"
#include "lab/engine/study.h"
#include "lab/peers/peer_filters.h"
#include "vidi/transfer.h"

/* ---- peers_plan.c: what to make ---- */

typedef enum lab_peer_sort {
    LAB_PEER_FINGERPRINT,
    LAB_PEER_BLOCKED,
    LAB_PEER_CLASSIC,
    LAB_PEER_CUCKOO,
    LAB_PEER_FUSE_3,
    LAB_PEER_FUSE_4,
    LAB_PEER_ROCKSDB,
    LAB_PEER_HASHSET,
    LAB_PEERS
} lab_peer_sort;

extern const char *const lab_peer_names[LAB_PEERS + 1];

/* A structure for a number of keys. */
typedef struct lab_peer_plan {
    lab_peer_sort sort;
    uint64_t keys;
    unsigned bits;        /* of a fingerprint; RocksDB: probes; blocked: lines of a row */
    uint64_t units;       /* buckets, places, lines, slots or rows */
    vidi_plan_entry vidi; /* for vidi's kinds */
} lab_peer_plan;

/* The one that loses least with `bits` bits per key; VIDI_OK and *fits false if none is that small. */
int lab_peer_plan_bits(lab_peer_plan *plan, bool *fits, lab_peer_sort sort, uint64_t keys, double bits);
/* The smallest that falsely sees at most that share of new keys, when it is full. */
int lab_peer_plan_rate(lab_peer_plan *plan, lab_peer_sort sort, uint64_t keys, double rate);

/* Bits per key that the plan takes; of vidi's kinds as planned. */
double lab_peer_plan_needs(const lab_peer_plan *plan);
/* Bits per key for a rate, by formula; *sort is LAB_PLANNED for fingerprint, whose memory follows from none. */
int lab_peer_needs(double *bits, lab_theory_sort *sort, const lab_peer_plan *plan, double rate);

/* How many of `asked` new keys the full structure falsely sees: mean and variance over keys and filters. */
lab_theory lab_peer_theory(const lab_peer_plan *plan, uint64_t asked);

/* Our time for something, divided by that of a public implementation: smallest times, and median of all rounds. */
typedef struct lab_peer_comparison {
    const char *peer, *with, *what;
    double best, median;
} lab_peer_comparison;

extern const lab_peer_comparison lab_peer_compared[]; /* by `make bench-peers`; ends with an entry without a peer */

/*
 * Whether times of it may be shown: vidi's own, and those that take at most LAB_PEER_SLOWEST times as long as a public
 * implementation in everything that `list` compares. Writes how they compare, for a remark; empty for vidi's.
 */
#define LAB_PEER_SLOWEST 1.3
bool lab_peer_timed(const lab_peer_comparison *list, lab_peer_sort sort, char *why, size_t room);

/* ---- peer_sets.c: making and filling them ---- */

/* Counts the memory that a structure takes. */
typedef struct lab_peer_memory {
    uint64_t now, peak;
    vidi_allocator allocator;
} lab_peer_memory;

void lab_peer_memory_init(lab_peer_memory *memory); /* the struct must not move afterwards */

typedef struct lab_peer lab_peer;

/*
 * `grows`: the number of keys is not known in advance; VIDI_ECANNOT if that is impossible. `memory` must outlive the
 * structure.
 */
int lab_peer_make(lab_peer **made, const lab_peer_plan *plan, bool grows, const unsigned char key[VIDI_KEY_BYTES],
                  lab_peer_memory *memory);
void lab_peer_free(lab_peer *peer); /* NULL is fine */

static inline void lab_peer_close(lab_peer **peer)
{
    lab_peer_free(*peer);
}

/* A binary fuse filter only collects keys here. */
int64_t lab_peer_add(lab_peer *peer, const vidi_digest *keys, size_t count);
/* Call it after the last key: a binary fuse filter is built, the others need nothing. */
int lab_peer_finish(lab_peer *peer);
int64_t lab_peer_has(lab_peer *peer, const vidi_digest *keys, size_t count);

/* The hashes of the run's URLs first to first + count - 1, with the run's key. */
int lab_peer_hash_urls(vidi_digest *hashes, const lab_settings *settings, uint64_t run, uint64_t first, uint64_t count);
/* Ready-made hashes, where URLs would only take time: numbers first to first + count - 1 of the run. */
void lab_peer_make_hashes(vidi_digest *hashes, const lab_settings *settings, uint64_t run, uint64_t first,
                          uint64_t count);

/* Columns of peers-lost, peers-time and peers-speed. */
extern const char *const lab_peer_sizes[], *const lab_peer_deeds[], *const lab_peer_time_sizes[];

#endif
