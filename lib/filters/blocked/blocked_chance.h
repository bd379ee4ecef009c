/*
 * The probability that the kind blocked now gives a false "seen", updated with each add.
 *
 * In the last layer the probability follows from the number of set bits, separately for each partition: partitions have
 * different numbers of URLs, and one with few does not make up for one with many. The formula takes eight exponential
 * functions, too many for each wave. So it is computed at certain numbers of set bits and interpolated between them,
 * with chords that span at most 1/64 of the number. The result is never too low, and too high by less than 2 in 1,000.
 * Where chords begin depends only on the number of set bits, so the probability depends only on the state and not on
 * how it was reached.
 *
 * The formula accounts for the average unevenness of the lines in a partition. The actual unevenness changes the truth
 * by 2 % at ten thousand URLs and by 0.2 % at a million. So when a small layer is full its bits are counted, once,
 * because it stays with the set.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_CHANCE_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_CHANCE_H

#include "filters/blocked/blocked_layer.h"

typedef struct vidi__chord {
    uint64_t from, until; /* numbers of set bits */
    double low, high, slope;
} vidi__chord;

/* What is known about a partition. Protected by its lock. */
typedef struct vidi__zone {
    _Alignas(VIDI__CACHE_LINE) unsigned layers; /* number of layers when this was computed */
    double older;                               /* probability of a false "seen" in the layers before the last */
    double all;                                 /* probability of a false "seen" in all layers */
    vidi__chord last;                           /* probability of a false "seen" in the last layer */
    _Atomic uint64_t shown;                     /* the bits of `all`, for threads without the lock */
} vidi__zone;

/* Brings a zone up to date with the layers and their set bits. */
void vidi__zone_refresh(vidi__zone *zone, unsigned partition, vidi__layer *const *layers, unsigned count);

/*
 * Chords that a batch has computed. Partitions with the same number of rows have the same chords, and fill at the same
 * pace, so most of them find theirs here.
 */
#define VIDI__CHORDS 16
typedef struct vidi__chords {
    vidi__chord at[2][VIDI__CHORDS]; /* by number of rows (as vidi__layer.chance) and beginning; until = 0: none */
} vidi__chords;

/* The increase of the probability, summed over all partitions: half way through a batch, and at its end. */
typedef struct vidi__rise {
    double half, whole;
} vidi__rise;

/* Reports that `more` bits of the last layer were set. `chords` may be NULL. */
void vidi__zone_bits_set(vidi__zone *zone, unsigned partition, vidi__layer *last, uint64_t more, vidi__rise *rise,
                         vidi__chords *chords);

/* The probability for a URL of any partition. */
double vidi__zones_chance(const vidi__zone *zones);

/* Pages lost during a batch with `fresh` NEW answers that began at probability `before`. */
double vidi__rise_lost(vidi__rise rise, double before, uint64_t fresh);

#endif
