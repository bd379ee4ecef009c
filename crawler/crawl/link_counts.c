/*
 * Counts of links: see link_counts.h.
 */
#include "crawler/crawl/link_counts.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { ROWS = 4, PLACES = 1 << 20 };

struct link_counts {
    _Atomic uint16_t rows[ROWS][PLACES];
};

link_counts *link_counts_open(void)
{
    return calloc(1, sizeof(link_counts));
}

void link_counts_close(link_counts *counts)
{
    free(counts);
}

/* The places of the rows are those of a double hash. */
static uint64_t place_of(uint64_t key, unsigned row)
{
    return (key + row * (key >> 31 | 1)) % PLACES;
}

unsigned link_counts_of(const link_counts *counts, uint64_t key)
{
    unsigned least = LINK_COUNT_MOST;

    for (unsigned row = 0; row < ROWS; row++) {
        unsigned count = atomic_load_explicit(&counts->rows[row][place_of(key, row)], memory_order_relaxed);
        least = count < least ? count : least;
    }
    return least;
}

void link_counts_add(link_counts *counts, uint64_t key)
{
    unsigned least = link_counts_of(counts, key);

    for (unsigned row = 0; row < ROWS && least < LINK_COUNT_MOST; row++) {
        _Atomic uint16_t *place = &counts->rows[row][place_of(key, row)];
        if (atomic_load_explicit(place, memory_order_relaxed) == least)
            atomic_store_explicit(place, (uint16_t)(least + 1), memory_order_relaxed);
    }
}
