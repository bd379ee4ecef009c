/*
 * How the URLs of a block are written. For each URL, in the order of their ids:
 *
 *     id         less that of the URL before; of the first: less the number of the block
 *     depth
 *     hops       * 8 + kind
 *     referrer
 *     shared     bytes that the text has in common with the beginning of the one before
 *     length     of the rest of the text
 *     the rest
 *
 * Numbers have 7 bits in a byte, the lowest first; the highest bit says that more follow. The URLs of a host begin
 * alike, so that this takes about half of their length.
 */
#ifndef VIDI_CRAWLER_FRONTIER_FRONTIER_BLOCKS_H
#define VIDI_CRAWLER_FRONTIER_FRONTIER_BLOCKS_H

#include "crawler/frontier/frontier.h"

/* Appends a URL to a block; `before` is the one before it, NULL for the first. VIDI_OK or VIDI_EMEMORY. */
int block_append(bytes *to, uint64_t number, const frontier_url *before, const frontier_url *url);

/*
 * Reads the URLs of a block whose host and number are known. VIDI_OK, VIDI_EMEMORY, or VIDI_EDAMAGED if the bytes do
 * not have `count` URLs.
 */
int block_read(frontier_block *block, vidi_str from, uint64_t count);

/* One URL without a block, for the time of a sort. On reading, the text stays where it is; *at is moved on. */
int record_append(bytes *to, const frontier_url *url);
void record_read(const char *at, frontier_url *url);

#endif
