/*
 * The hashes of a sub-table that found their line full: a small set, or multiset, by open addressing, at most four
 * fifths full.
 *
 *     home of a hash = floor(mix(hash + room) · room / 2^64), and on from there to the first free entry
 *
 * So there is another order for each room: what comes from a larger table in its order would otherwise fill a smaller
 * one from one end. (An odd factor instead of the mixing is not enough: those of two rooms may be almost in
 * proportion.) The entries are in chunks, as the lines are (chunks.h).
 *
 * A table that was lent (base/stream.h) may hold anything: asking it and walking through it are safe and end all the
 * same.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_OVERFLOW_H
#define VIDI_FILTERS_FINGERPRINT_OVERFLOW_H

#include "base/stream.h"
#include "filters/fingerprint/chunks.h"

#define VIDI__OVERFLOW_BLOCK (VIDI__CHUNK_BYTES / sizeof(uint64_t)) /* entries */
#define VIDI__OVERFLOW_EMPTY UINT64_MAX                             /* no hash: they are below 2^60 */

typedef struct vidi__overflow {
    uint64_t room, used;
    uint64_t **entries;
    uint64_t **times; /* how often each of them, in a multiset */
} vidi__overflow;

static inline uint64_t *vidi__overflow_at(uint64_t **blocks, uint64_t at)
{
    return &blocks[at / VIDI__OVERFLOW_BLOCK][at % VIDI__OVERFLOW_BLOCK];
}

static inline uint64_t vidi__overflow_home(const vidi__overflow *overflow, uint64_t hash)
{
    return vidi__scale(vidi__mix(hash + overflow->room), overflow->room);
}

/* How often the hash is there: 0, 1 or, in a multiset, more. */
uint64_t vidi__overflow_times(const vidi__overflow *overflow, uint64_t hash);

/* Adds it so many times; *fresh says whether it was not there. On an error nothing has changed. */
int vidi__overflow_insert(vidi__overflow *overflow, vidi__chunks *chunks, bool multiset, uint64_t hash, uint64_t times,
                          bool *fresh);

/* Takes one away; false if there is none. *last says whether that was the last of its kind. */
bool vidi__overflow_remove(vidi__overflow *overflow, uint64_t hash, bool *last);

/* Makes room for so many entries, which have to be more than are used. */
int vidi__overflow_resize(vidi__overflow *overflow, vidi__chunks *chunks, bool multiset, uint64_t room);
void vidi__overflow_free(vidi__overflow *overflow, vidi__chunks *chunks);
uint64_t vidi__overflow_bytes(const vidi__overflow *overflow);

/*
 * The hashes in the order of the table, from a free entry on and around the end: put in again in this order they come
 * to stand where they stood. *at is VIDI__OVERFLOW_EMPTY before the first; false after the last.
 */
bool vidi__overflow_each(const vidi__overflow *overflow, uint64_t *at, uint64_t *left);

/*
 * Saved: all entries as they stand, 2^64-1 where there is none; then, in a multiset, the times of all, 0 where there is
 * none. Loading takes room and used as they are set, and lends or copies; verification says whether every entry is
 * below the range and where it is looked for, and whether they are as many as used says.
 */
int vidi__overflow_save(const vidi__overflow *overflow, vidi__writer *writer);
int vidi__overflow_load(vidi__overflow *overflow, vidi__chunks *chunks, bool multiset, vidi__reader *reader);
int vidi__overflow_verify(const vidi__overflow *overflow, uint64_t range);

#endif
