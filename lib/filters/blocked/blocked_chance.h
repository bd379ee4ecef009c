/*
 * How likely the kind blocked says a false "seen" now, kept up to date at each add.
 *
 * Of the last layer the chance follows from the number of marked bits, for each partition on its own: its URLs are more
 * or fewer than those of others, and what a partition with many of them loses, one with few does not make good. The
 * formula takes eight exponential functions, too many for each step, so it is computed at certain numbers of marks and
 * taken as a straight line in between, a chord of at most 1/64 of the number. That is never too low, and too high by
 * less than 2 in 1,000. Where chords begin depends on nothing but the number of marks. So whatever led to a state, its
 * chance is the same.
 *
 * That the lines of a partition are unevenly filled is in the formula, on average; how unevenly they really are moves
 * the truth by 2 % at ten thousand URLs and by 0.2 % at a million. Small layers are therefore counted bit by bit when
 * they are full, once, since they stay with the set for good.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_CHANCE_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_CHANCE_H

#include "filters/blocked/blocked_layer.h"

typedef struct vidi__chord {
    uint64_t from, until; /* marked bits */
    double low, high, slope;
} vidi__chord;

/* What is known of a partition, under its lock. */
typedef struct vidi__zone {
    _Alignas(VIDI__CACHE_LINE) unsigned layers; /* that there were when this was written */
    double older;                               /* chance of a false "seen" in those before the last */
    double all;                                 /* in all of them */
    vidi__chord last;                           /* in the last */
    _Atomic uint64_t shown;                     /* the bits of `all`, for who does not hold the lock */
} vidi__zone;

/* Brings a zone up to date with the layers and their marks. */
void vidi__zone_refresh(vidi__zone *zone, unsigned partition, vidi__layer *const *layers, unsigned count);

/* How much the chances of all partitions, added up, have risen: half way through a batch, and in the end. */
typedef struct vidi__rise {
    double half, whole;
} vidi__rise;

/* So many more bits of the last layer have become marked. */
void vidi__zone_bits_set(vidi__zone *zone, unsigned partition, vidi__layer *last, uint64_t more, vidi__rise *rise);

/* The chance of a URL that may belong to any partition. */
double vidi__zones_chance(const vidi__zone *zones);

/* Pages lost during a batch with so many NEW answers, which began at this chance. */
double vidi__rise_lost(vidi__rise rise, double before, uint64_t fresh);

#endif
