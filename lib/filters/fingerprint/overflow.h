/*
 * The hashes of a sub-table that found their line full: a small set, or multiset, by open addressing, at most four
 * fifths full.
 *
 *     home of a hash = floor(mix(hash + room) · room / 2^64), and on from there to the first free entry
 *
 * So there is another order for each room: what comes from a larger table in its order would otherwise fill a smaller
 * one from one end. (An odd factor instead of the mixing is not enough: those of two rooms may be almost in proportion.)
 * The entries are in chunks, as the lines are (chunks.h).
 *
 * A table that was lent (base/stream.h) may hold anything: asking it and walking through it are safe and end all the
 * same.
 */
#ifndef VIDI_FILTERS_FINGERPRINT_OVERFLOW_H
#define VIDI_FILTERS_FINGERPRINT_OVERFLOW_H

#include "base/stream.h"
#include "filters/fingerprint/chunks.h"

#define VIDI__SPILL_BLOCK (VIDI__CHUNK_BYTES / sizeof(uint64_t)) /* entries */
#define VIDI__SPILL_EMPTY UINT64_MAX                             /* no hash: they are below 2^60 */

typedef struct vidi__spill {
    uint64_t room, used;
    uint64_t **entries;
    uint64_t **times; /* how often each of them, in a multiset */
} vidi__spill;

static inline uint64_t *vidi__spill_at(uint64_t **blocks, uint64_t at)
{
    return &blocks[at / VIDI__SPILL_BLOCK][at % VIDI__SPILL_BLOCK];
}

static inline uint64_t vidi__spill_home(const vidi__spill *spill, uint64_t hash)
{
    return vidi__scale(vidi__mix(hash + spill->room), spill->room);
}

/* How often the hash is there: 0, 1 or, in a multiset, more. */
uint64_t vidi__spill_times(const vidi__spill *spill, uint64_t hash);

/* Adds it so many times; *fresh says whether it was not there. On an error nothing has changed. */
int vidi__spill_put(vidi__spill *spill, vidi__chunks *chunks, bool multiset, uint64_t hash, uint64_t times,
                    bool *fresh);

/* Takes one away; false if there is none. *last says whether that was the last of its kind. */
bool vidi__spill_take(vidi__spill *spill, uint64_t hash, bool *last);

/* Makes room for so many entries, which have to be more than are used. */
int vidi__spill_resize(vidi__spill *spill, vidi__chunks *chunks, bool multiset, uint64_t room);
void vidi__spill_free(vidi__spill *spill, vidi__chunks *chunks);
uint64_t vidi__spill_bytes(const vidi__spill *spill);

/*
 * The hashes in the order of the table, from a free entry on and around the end: put in again in this order they come
 * to stand where they stood. *at is VIDI__SPILL_EMPTY before the first; false after the last.
 */
bool vidi__spill_each(const vidi__spill *spill, uint64_t *at, uint64_t *left);

/*
 * Saved: all entries as they stand, 2^64-1 where there is none; then, in a multiset, the times of all, 0 where there is
 * none. Loading takes room and used as they are set, and lends or copies; verification says whether every entry is
 * below the range and where it is looked for, and whether they are as many as used says.
 */
int vidi__spill_save(const vidi__spill *spill, vidi__writer *writer);
int vidi__spill_load(vidi__spill *spill, vidi__chunks *chunks, bool multiset, vidi__reader *reader);
int vidi__spill_verify(const vidi__spill *spill, uint64_t range);

#endif
