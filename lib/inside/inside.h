/*
 * What the laboratory, the benchmarks and the fuzzers may use of the inside of the library.
 *
 * It is not installed, not part of libvidi, and promises nothing: it changes whenever the library does. Programs use
 * vidi/vidi.h. The header includes no other header of lib/, so whatever stands above the library and needs more than
 * the public header sees these functions and nothing else (tests/meta/includes.sh).
 *
 * Values that are handled by the million pass through in batches, because a call for each would cost as much as the
 * work itself.
 *
 * Unless a comment says otherwise, functions that return int return VIDI_OK, or a negative code with vidi_message().
 */
#ifndef VIDI_INSIDE_INSIDE_H
#define VIDI_INSIDE_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/transfer.h"
#include "vidi/url.h"
#include "vidi/vidi.h"

/* ---- errors ---- */

/* Keeps the sentence for vidi_message() and returns the code. */
int vidi__inside_fail(int code, const char *sentence);

/* ---- hash functions ---- */

/* The length of a function's values: 32 or 128 bits, or 0 if this build has no hash function of that name. */
unsigned vidi__inside_hash_bits(vidi_str name);

/*
 * Hashes n strings, each after the salt, which may be empty. Functions without a key ignore it, and functions of 32
 * bits leave the rest of the value zero.
 */
int vidi__inside_hash(const char *name, const unsigned char key[VIDI_KEY_BYTES], vidi_str salt, const vidi_str *strs,
                      size_t n, vidi_digest *values);

/* MurmurHash3 (x86_32) with a seed, which the library itself never uses: the multi-layer paper's program did. */
uint32_t vidi__inside_murmur3(vidi_str str, uint32_t seed);

/* SipHash-1-3 with a zero key of all pieces together, in their order. */
vidi_digest vidi__inside_checksum(const vidi_str *pieces, size_t count);

/* ---- URLs ---- */

/*
 * Brings n URLs into the canonical form `whatwg`, without copying those that are canonical already. *bytes becomes the
 * length of all forms together.
 */
int vidi__inside_whatwg(const vidi_str *urls, size_t n, uint64_t *bytes);

/*
 * The features of a URL that kind `eigen` knows by these names. They lie in the URL or in the buffer, which must have
 * room for the URL's length, once for each feature.
 */
int vidi__inside_features(vidi_str url, const char *const *names, size_t count, char *buffer, vidi_str *features);

/* ---- Bloom filters on values that were hashed before ---- */

/* What makes one filter different from another of the same shape. */
typedef struct vidi__inside_seed {
    unsigned char key[VIDI_KEY_BYTES];
    uint64_t turn; /* which combination of functions mode=different takes */
} vidi__inside_seed;

/* The seed of an epoch's filter, in a set with this key; and that of member `index` of `count` in a spatial filter. */
vidi__inside_seed vidi__inside_epoch_seed(const unsigned char key[VIDI_KEY_BYTES], uint64_t epoch);
vidi__inside_seed vidi__inside_member_seed(const vidi__inside_seed *seed, uint64_t index, uint64_t count);

/* The filter of kind `classic` with these parameters: its hash functions and its bits. mode=derived is refused. */
typedef struct vidi__inside_bloom vidi__inside_bloom;

#define VIDI__INSIDE_K_MAX 64

/* The salts of a filter with fewer functions, from the same seed, are the first ones of a filter with more. */
int vidi__inside_bloom_make(vidi__inside_bloom **made, const char *params, uint64_t capacity,
                            const vidi__inside_seed *seed);
void vidi__inside_bloom_free(vidi__inside_bloom *bloom); /* NULL is fine */

uint64_t vidi__inside_bloom_size(const vidi__inside_bloom *bloom); /* m, in bits */
unsigned vidi__inside_bloom_k(const vidi__inside_bloom *bloom);
bool vidi__inside_bloom_wide(const vidi__inside_bloom *bloom); /* some function has values of more than 32 bits */
uint64_t vidi__inside_bloom_bits_set(const vidi__inside_bloom *bloom);

/* The salt of one of the k functions, which belongs to the filter; empty for mode=different, which has none. */
vidi_str vidi__inside_bloom_salt(const vidi__inside_bloom *bloom, unsigned function);

/* The k values of each of n URLs: values[url * k + function]. They serve every filter with the same salts. */
void vidi__inside_bloom_hash(const vidi__inside_bloom *bloom, const vidi_str *urls, size_t n, uint64_t *values);

/*
 * Sets the k bits of each of n URLs, one URL after the other: seen[i] says whether all of them were set before. The
 * values are laid out as above.
 */
void vidi__inside_bloom_insert(vidi__inside_bloom *bloom, const uint64_t *values, size_t n, bool *seen);

/* Sets one bit for each of n values. */
void vidi__inside_bloom_insert_each(vidi__inside_bloom *bloom, const uint32_t *values, size_t n);

/* Whether the bits of the first k values of each of n URLs are set: values[url * k + function]. */
void vidi__inside_bloom_lookup(const vidi__inside_bloom *bloom, const uint64_t *values, unsigned k, size_t n,
                               bool *seen);

/* Whether the bit of each of n values is set. All of them are looked at, without a branch that depends on one. */
void vidi__inside_bloom_lookup_each(const vidi__inside_bloom *bloom, const uint64_t *values, size_t n, bool *set);

/*
 * Hashes a URL with one of the k functions and sets or looks up that bit alone. Returns true if it was set before. For
 * measuring what each function costs. mode=salted with the salt in front only.
 */
bool vidi__inside_bloom_insert_one(vidi__inside_bloom *bloom, unsigned function, vidi_str url);
bool vidi__inside_bloom_lookup_one(const vidi__inside_bloom *bloom, unsigned function, vidi_str url);

/* ---- filters without a set around them ---- */

typedef struct vidi__inside_filter vidi__inside_filter;

typedef struct vidi__inside_recipe {
    const char *kind, *params;
    uint64_t capacity; /* 0: unknown */
    double error;      /* 0: unknown */
    unsigned char key[VIDI_KEY_BYTES];
    const vidi_allocator *allocator; /* NULL: the default one */
} vidi__inside_recipe;

/* VIDI_ECANNOT for kinds that need more of a URL than its hash. */
int vidi__inside_filter_make(vidi__inside_filter **made, const vidi__inside_recipe *recipe);
void vidi__inside_filter_free(vidi__inside_filter *filter); /* NULL is fine */

/* Adds or looks up n hashes in groups, as a set would pass them on. */
int vidi__inside_filter_add(vidi__inside_filter *filter, const vidi_digest *hashes, size_t n, uint8_t *verdicts);
int vidi__inside_filter_has(const vidi__inside_filter *filter, const vidi_digest *hashes, size_t n, uint8_t *verdicts);

uint64_t vidi__inside_filter_bytes(const vidi__inside_filter *filter);
double vidi__inside_filter_lost(const vidi__inside_filter *filter); /* expected pages lost so far */

/* ---- what is on disk ---- */

/* A read-only set over a stream in memory, which must stay there unchanged as long as the set: lib/set/set.h. */
int vidi__inside_map(vidi_set **set, const void *bytes, uint64_t size, const vidi_access *access);

/* Lengths in a log, whose bytes lib/store/log.h draws. */
enum { VIDI__INSIDE_LOG_HEAD = 64, VIDI__INSIDE_LOG_RECORD_HEAD = 16, VIDI__INSIDE_LOG_CHECK = 8 };

/* The bytes that a record takes with so much payload, its mark, and its checksum over the first `bytes` of it. */
uint64_t vidi__inside_log_record_bytes(uint64_t payload);
uint32_t vidi__inside_log_mark(uint64_t generation, uint64_t offset, uint32_t type, uint64_t payload);
uint64_t vidi__inside_log_checksum(uint64_t generation, uint64_t offset, const unsigned char *record, uint64_t bytes);

/* The head that vidi__inside_log_read expects. */
void vidi__inside_log_head(unsigned char head[VIDI__INSIDE_LOG_HEAD], uint64_t generation);

/* What reading a log has found: as in lib/store/log.h. */
typedef struct vidi__inside_log_found {
    uint64_t records, bytes, damaged, stretches, unfinished;
    bool headless;
    uint64_t memory_left; /* bytes that the reader has allocated and not released */
} vidi__inside_log_found;

/*
 * Reads a log that is in memory, with at most 1 MiB of memory more than it is long. VIDI_EIO if the reader calls for
 * anything but the bytes of this file. Not for several threads at once: it replaces the calls to the system.
 */
int vidi__inside_log_read(const void *bytes, size_t size, int (*visit)(void *context, uint32_t type, vidi_str payload),
                          void *context, vidi__inside_log_found *found);

#endif
