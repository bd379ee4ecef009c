/*
 * Values of 32 bits in buckets, small ones first, to fill filters that nobody asks meanwhile.
 *
 * A place is value % m, and m is far less than 2^32: the values go through the filter many times, each time from its
 * beginning to its end. So those that lie in one part of the filter are some buckets of every time through. Taken part
 * by part, all that is marked stays in a cache near the processor; in the order of the URLs every mark waits for
 * memory.
 */
#ifndef VIDI_LAB_ENGINE_BUCKETS_H
#define VIDI_LAB_ENGINE_BUCKETS_H

#include "lab/engine/lab.h"
#include "lib/inside/inside.h"

typedef struct lab_buckets {
    uint64_t n;       /* values a slot */
    uint32_t *values; /* [slot * n] */
    uint32_t *spare;  /* [n] */
    uint64_t *begins; /* [slot * (buckets + 1)] */
} lab_buckets;

/* lab_buckets_free in every case. */
int lab_buckets_make(lab_buckets *buckets, uint64_t n, unsigned slots);
void lab_buckets_free(lab_buckets *buckets);

/* Sorts the n values that lie in spare into a slot. */
void lab_buckets_sort(lab_buckets *buckets, unsigned slot);

/* Sets the bits of all values of the first k slots, k being the filter's. */
void lab_buckets_fill(const lab_buckets *buckets, vidi__inside_bloom *filter);

#endif
