/*
 * The probability that the kind blocked now gives a false "seen", updated with each add.
 *
 * In the last layer the probability follows from the number of set bits, separately for each partition: partitions have
 * different numbers of URLs, and one with few does not make up for one with many. The formula takes eight exponential
 * functions, too many for each add. So it is computed at certain numbers of set bits and interpolated between them,
 * with chords that span at most 1/64 of the number. The result is never too low, and too high by less than 2 in 1,000.
 * Where chords begin depends only on the number of set bits, so the probability depends only on the state and not on
 * how it was reached.
 *
 * An add that is NEW loses pages with the mean over all partitions. To know that, threads that share a set would have to
 * read each other's numbers all the time. So they take the probability of the URL's own partition: all partitions are
 * equally likely, so the expectation is the same.
 *
 * The formula accounts for the average unevenness of the lines in a partition. The actual unevenness changes the truth
 * by 2 % at ten thousand URLs and by 0.2 % at a million. So when a small layer is full its bits are counted, once,
 * because it stays with the set.
 */
#ifndef VIDI_FILTERS_BLOCKED_BLOCKED_CHANCE_H
#define VIDI_FILTERS_BLOCKED_BLOCKED_CHANCE_H

#include "filters/blocked/blocked_layer.h"

/*
 * Brings a zone of the last of `count` layers up to date with them and their set bits. With `alone`, chords that other
 * zones of the layer have computed are used.
 */
void vidi__zone_refresh(vidi__layer *const *layers, unsigned count, unsigned partition, bool alone);

/* The increase of the probability in one or more zones, added up: half way through a batch, and at its end. */
typedef struct vidi__rise {
    double half, whole;
} vidi__rise;

/* Reports that `bits` bits were set in a zone of the last of `count` layers. */
void vidi__zone_bits_set(vidi__layer *const *layers, unsigned count, unsigned partition, uint64_t bits,
                         vidi__rise *rise, bool alone);

/* Pages lost during a batch with `fresh` NEW answers that began at probability `before`: the mean of so many zones. */
double vidi__rise_lost(vidi__rise rise, double before, uint64_t fresh, unsigned zones);

/* The probability for a URL of any partition. */
double vidi__zones_chance(vidi__layer *const *layers, unsigned count);

#endif
