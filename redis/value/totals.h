/*
 * Sums over all values, for INFO: kept as values change, so that asking costs nothing however many keys there are.
 *
 * A value counts from when it is made until its memory is given back. The server may free values in a thread of its
 * own; then they count until that has happened, as in the server's own figures.
 */
#ifndef REDIS_TOTALS_H
#define REDIS_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

/* What a value, or all of them, hold. */
typedef struct totals {
    uint64_t sets, urls, claims;
    uint64_t refused;   /* answers that something was not taken for want of room. Of all only, as the next one */
    uint64_t misplaced; /* commands that NOCREATE or IF has refused */
} totals;

/* Replaces what a value counts for by what it holds now; both are its own struct. */
void totals_update(totals *counted, totals now);

void totals_count_refused(void);
void totals_count_misplaced(void);

totals totals_now(void);

#endif
