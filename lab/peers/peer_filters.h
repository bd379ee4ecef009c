/*
 * The filters that people use now, each written from its paper or published design, for comparison with vidi's kinds:
 *
 *   cuckoo         Fan, Andersen, Kaminsky, Mitzenmacher 2014: fingerprints in buckets of four (cuckoo_filter.c)
 *   binary fuse    Graf, Lemire 2022: an array in which three or four places together give a key's fingerprint; it is
 *                  built once from all keys (binary_fuse.c)
 *   RocksDB        the blocked Bloom filter of its format version 5 (rocksdb_lines.c)
 *   hash set       a Swiss table of 64-bit hashes, as absl::flat_hash_set is one (swiss_table.c)
 *
 * All of them take 64-bit hashes that the caller has made, which may be part of larger records. Every function works
 * through a batch and prefetches LAB_PEER_AHEAD keys ahead. All memory comes from the caller's allocator, which can
 * count it; NULL stands for malloc.
 *
 * The benchmarks use this header too: they compare these filters with public implementations.
 */
#ifndef VIDI_LAB_PEERS_PEER_FILTERS_H
#define VIDI_LAB_PEERS_PEER_FILTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum { LAB_PEER_AHEAD = 16, LAB_PEER_LINE = 64 }; /* prefetches in flight; bytes of a cache line */

/* A batch of keys: number i is words[i * step]. */
typedef struct lab_peer_keys {
    const uint64_t *words;
    size_t step, count;
} lab_peer_keys;

static inline uint64_t lab_peer_key(const lab_peer_keys *keys, size_t i)
{
    return keys->words[i * keys->step];
}

/*
 * Functions that add return how many keys were there already, or seemed to be; those that look up, how many are. If
 * `seen` is not NULL, seen[i] says so for each key. VIDI_EMEMORY, VIDI_ELIMIT if the filter is full, VIDI_ECANNOT if it
 * cannot do that at all.
 */

/* ---- peer_memory.c: memory for the filters ---- */

void *lab_peer_allocate(const vidi_allocator *memory, size_t bytes); /* zeroed, at the beginning of a line */
void lab_peer_release(const vidi_allocator *memory, void *ptr, size_t bytes);

/* ---- cuckoo_filter.c ---- */

/* Wider fingerprints than LAB_CUCKOO_BITS_QUICK are compared one at a time. */
enum { LAB_CUCKOO_SLOTS = 4, LAB_CUCKOO_BITS_QUICK = 28, LAB_CUCKOO_BITS_MOST = 40 };

typedef struct lab_cuckoo lab_cuckoo;

/* The load that the paper recommends for buckets of four. */
#define LAB_CUCKOO_LOAD 0.95

/* Fingerprints of 4 to LAB_CUCKOO_BITS_MOST bits. A power of two of buckets gives the paper's filter. */
int lab_cuckoo_make(lab_cuckoo **made, uint64_t buckets, unsigned bits, const vidi_allocator *memory);
void lab_cuckoo_free(lab_cuckoo *filter); /* NULL is fine */

uint64_t lab_cuckoo_buckets_for(uint64_t keys); /* as many as LAB_CUCKOO_LOAD needs */
uint64_t lab_cuckoo_bytes(const lab_cuckoo *filter);

/* VIDI_ELIMIT: some key found no room. It and all others are still found, but nothing more can be added. */
int64_t lab_cuckoo_add(lab_cuckoo *filter, lab_peer_keys keys, bool *seen);
int64_t lab_cuckoo_has(const lab_cuckoo *filter, lab_peer_keys keys, bool *seen);
/* How many fingerprints were there and are removed. Removing a key that was never added may remove another. */
int64_t lab_cuckoo_remove(lab_cuckoo *filter, lab_peer_keys keys);
/* Moves the fingerprints of `other` into a filter with as many buckets and bits. */
int lab_cuckoo_merge(lab_cuckoo *filter, const lab_cuckoo *other);

/* ---- binary_fuse.c ---- */

enum { LAB_FUSE_BITS_MOST = 46 };

typedef struct lab_fuse lab_fuse;

/* Expects that many keys; 0: unknown. `arity` is 3 or 4. */
int lab_fuse_make(lab_fuse **made, uint64_t keys, unsigned arity, unsigned bits, const vidi_allocator *memory);
void lab_fuse_free(lab_fuse *filter); /* NULL is fine */

/* Length of the array for `keys` keys. */
uint64_t lab_fuse_places(uint64_t keys, unsigned arity);

/* Collects keys, which must all be different. VIDI_ECANNOT once the filter is frozen. */
int lab_fuse_collect(lab_fuse *filter, lab_peer_keys keys);
/* Builds the array and forgets the keys. */
int lab_fuse_freeze(lab_fuse *filter);
int64_t lab_fuse_has(const lab_fuse *filter, lab_peer_keys keys, bool *seen);

/* ---- rocksdb_lines.c ---- */

typedef struct lab_rocksdb {
    uint32_t *words; /* lines of 512 bits, at the beginning of a cache line; they belong to the caller */
    uint32_t lines;
    unsigned probes;
} lab_rocksdb;

/* The number of probes that RocksDB chooses for `bits` bits per key. */
unsigned lab_rocksdb_probes(double bits);
/* The expected rate of false answers, if all probes are independent. */
double lab_rocksdb_rate(double bits, unsigned probes);
/* The fewest bits per key that reach the rate, in steps of a tenth. */
double lab_rocksdb_bits(double rate);

int64_t lab_rocksdb_add(const lab_rocksdb *filter, lab_peer_keys keys, bool *seen);
int64_t lab_rocksdb_has(const lab_rocksdb *filter, lab_peer_keys keys, bool *seen);
/* Filters of the same size. */
void lab_rocksdb_merge(const lab_rocksdb *filter, const lab_rocksdb *other);

/* ---- swiss_table.c ---- */

typedef struct lab_swiss lab_swiss;

/* With room for that many keys; it grows beyond. */
int lab_swiss_make(lab_swiss **made, uint64_t keys, const vidi_allocator *memory);
void lab_swiss_free(lab_swiss *table); /* NULL is fine */

uint64_t lab_swiss_slots(const lab_swiss *table);
uint64_t lab_swiss_bytes(const lab_swiss *table);

int64_t lab_swiss_add(lab_swiss *table, lab_peer_keys keys, bool *seen);
int64_t lab_swiss_has(const lab_swiss *table, lab_peer_keys keys, bool *seen);
int64_t lab_swiss_remove(lab_swiss *table, lab_peer_keys keys); /* how many were there */
/* The next key from slot *at on, which moves past it; false after the last. */
bool lab_swiss_next(const lab_swiss *table, uint64_t *at, uint64_t *word);

#endif
