/*
 * Sorts 32-bit values into buckets, to fill filters in which nothing is looked up meanwhile.
 *
 * A place is value % m, and m is much less than 2^32. So values in increasing order pass through the filter many times,
 * each time from its beginning to its end, and those for one part of the filter lie in a few neighbouring buckets of
 * each pass. If the filter is filled part by part, the bits that change stay in a near cache; in the order of the URLs,
 * every bit would wait for memory.
 */
#ifndef VIDI_LAB_ENGINE_BUCKETS_H
#define VIDI_LAB_ENGINE_BUCKETS_H

#include "lab/engine/lab.h"
#include "lib/inside/inside.h"

typedef struct lab_buckets {
    uint64_t n;       /* values in each slot */
    uint32_t *values; /* [slot * n] */
    uint32_t *spare;  /* [n]: the values to sort */
    uint64_t *begins; /* [slot * (buckets + 1)] */
} lab_buckets;

/* They belong to the innermost block (run_memory.h). */
int lab_buckets_make(lab_buckets *buckets, uint64_t n, unsigned slots);

/* Sorts the n values in `spare` into a slot. */
void lab_buckets_sort(lab_buckets *buckets, unsigned slot);

/* Sets the bits of all values in the first k slots, where k is the filter's. */
void lab_buckets_fill(const lab_buckets *buckets, vidi__inside_bloom *filter);

#endif
