/*
 * Cuts an input of several pieces into blocks of `size` bytes as if it were one string. Blocks that lie within a piece
 * are taken where they are; only those that cross a border go through a small buffer.
 *
 *   pieces   aaaaaaaaaa|bbb|cccccccccccc        size 4
 *   blocks   aaaa aaaa aabb bccc cccc cccc c
 *                      ^^^^ ^^^^                joined in the buffer
 */
#ifndef VIDI_HASH_BLOCKS_H
#define VIDI_HASH_BLOCKS_H

#include "base/base.h"

typedef void (*vidi__block_fn)(void *state, const unsigned char *block);

static inline uint64_t vidi__pieces_length(const vidi_str *pieces, size_t count)
{
    uint64_t length = 0;
    for (size_t i = 0; i < count; i++)
        length += pieces[i].len;
    return length;
}

/* Returns how many bytes are left after the last whole block. They are in `tail`, followed by zeros. */
static inline __attribute__((always_inline)) size_t
vidi__blocks(const vidi_str *pieces, size_t count, unsigned char *tail, size_t size, vidi__block_fn block, void *state)
{
    size_t fill = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *at = (const unsigned char *)pieces[i].ptr;
        size_t left = pieces[i].len;
        while (fill && left) {
            tail[fill++] = *at++;
            left--;
            if (fill == size) {
                block(state, tail);
                fill = 0;
            }
        }
        for (; left >= size; at += size, left -= size)
            block(state, at);
        if (left)
            memcpy(tail + fill, at, left);
        fill += left;
    }
    memset(tail + fill, 0, size - fill);
    return fill;
}

#endif
