/*
 * How many links lead to a URL, roughly, in memory that does not grow: a count-min sketch with conservative update
 * (Estan and Varghese, 2002). A count is never too low, and too high only where other URLs share all of its places.
 * URLs that are written differently are counted apart. Any number of threads may add and ask: if two add at the same
 * moment, one of the links may be missed. It orders URLs and decides nothing else.
 */
#ifndef VIDI_CRAWLER_CRAWL_LINK_COUNTS_H
#define VIDI_CRAWLER_CRAWL_LINK_COUNTS_H

#include <stdint.h>

typedef struct link_counts link_counts;

enum { LINK_COUNT_MOST = UINT16_MAX };

link_counts *link_counts_open(void); /* 8 MiB. NULL: no memory */
void link_counts_close(link_counts *counts);
/* The key of a URL: 63 bits of a keyed hash. */
void link_counts_add(link_counts *counts, uint64_t key);
unsigned link_counts_of(const link_counts *counts, uint64_t key);

#endif
