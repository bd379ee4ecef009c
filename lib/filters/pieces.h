/*
 * Filters in runs, for sets that travel in pieces (set/pieces.c).
 *
 * The contents of a filter lie along a line of positions, numbers of `bits` bits. A run is what lies between two
 * positions. Adding never moves anything to a smaller position than it had: arrays are addressed by offset, tables by
 * prefix of the hash, stored URLs by their place in the pool, and whatever a filter grows comes last. So who writes all
 * runs, one after the other, has written everything that was there at the first one, whatever was added meanwhile. A
 * position is all that must be remembered between two runs.
 *
 *     | stage | member |   offset of a line of the array   |       a position in a scalable filter of spatial ones
 *
 * Filters that consist of others give the first bits to the number of the part, and pass the rest on.
 *
 * Loading a run adds it to the filter, as a merge does. It is done twice: the first time everything is checked, and the
 * filter stays as it is.
 */
#ifndef VIDI_FILTERS_PIECES_H
#define VIDI_FILTERS_PIECES_H

#include "filters/bitmap.h"
#include "filters/filter.h"

/* Bits for the number of a part: up to 16 members, 32 arrays or layers, 1024 stages. */
enum { VIDI__MEMBER_BITS = 4, VIDI__ARRAY_BITS = 5, VIDI__STAGE_BITS = 10 };

/* The position after the last one: everything was written. */
static inline uint64_t vidi__run_end(const vidi__run_out *run)
{
    return UINT64_C(1) << run->bits;
}

static inline bool vidi__run_ended(const vidi__run_out *run)
{
    return run->at == vidi__run_end(run);
}

/* Takes the number of the part from the position; what is left is the run of that part. */
vidi__run_out vidi__run_part(const vidi__run_out *run, unsigned part_bits, uint64_t *part);

/* Moves the run after that of its part number `part` of `parts`. */
void vidi__run_part_done(vidi__run_out *run, const vidi__run_out *inner, uint64_t part, uint64_t parts);

/* The error for a position that no run ends at. */
int vidi__run_position_unknown(void);

/* The error for a run that would not fit into its room. */
int vidi__run_too_large(uint64_t bytes);

/*
 * A run of an array of words: u64 number of words in the array, then stretches of it: u64 first word, u64 how many, and
 * these; 2^64-1 ends the run. Stretches without a set bit are left out. Positions are cache lines of the array. The
 * array is `words`, or `lazy` if that is NULL.
 */
int vidi__words_save_run(const uint64_t *words, const vidi__lazy *lazy, uint64_t count, vidi__run_out *run);

/* A stretch that was read; the words may lie at any address. Checks it, or, if `apply`, adds it. */
typedef int vidi__words_take(void *context, uint64_t first, const unsigned char *words, uint64_t count, bool apply);
int vidi__words_load_run(uint64_t count, vidi__run_in *run, vidi__words_take *take, void *context);

/* Runs of one bit array, or of several, one after the other. Loading sets the bits that are set in the run. */
int vidi__bitmap_save_run(const vidi__bitmap *bitmap, vidi__run_out *run);
int vidi__bitmap_load_run(vidi__bitmap *bitmap, vidi__run_in *run);
int vidi__bitmaps_save_run(const vidi__bitmap *const *bitmaps, unsigned count, vidi__run_out *run);
int vidi__bitmaps_load_run(vidi__bitmap *const *bitmaps, unsigned count, vidi__run_in *run);

/* A run of any filter: what the kind writes, u64 1 if the filter ends with it, else 0, and u64 its count. */
int vidi__filter_save_run(const vidi__filter *filter, vidi__run_out *run);
int vidi__filter_load_run(vidi__filter *filter, vidi__run_in *run);

#endif
