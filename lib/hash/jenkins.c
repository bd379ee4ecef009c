/*
 * jenkins: lookup2 by Robert John Jenkins Jr. (Dr. Dobb's Journal, September 1997), the hash of the thesis's tables. 32
 * bits.
 *
 * Three words a, b, c; each block of 12 bytes is added to them, four bytes a word, and the three are mixed reversibly.
 * The last, incomplete block is treated alike, except that the lowest byte of its third word is the length of the whole
 * input.
 */
#include "hash/blocks.h"
#include "hash/functions.h"

#define BLOCK 12

typedef struct state {
    uint32_t a, b, c;
} state;

static inline void mix(state *s)
{
    uint32_t a = s->a, b = s->b, c = s->c;
    a = (a - b - c) ^ (c >> 13);
    b = (b - c - a) ^ (a << 8);
    c = (c - a - b) ^ (b >> 13);
    a = (a - b - c) ^ (c >> 12);
    b = (b - c - a) ^ (a << 16);
    c = (c - a - b) ^ (b >> 5);
    a = (a - b - c) ^ (c >> 3);
    b = (b - c - a) ^ (a << 10);
    c = (c - a - b) ^ (b >> 15);
    *s = (state){a, b, c};
}

static inline void block(void *context, const unsigned char *at)
{
    state *s = context;
    s->a += vidi__load32(at);
    s->b += vidi__load32(at + 4);
    s->c += vidi__load32(at + 8);
    mix(s);
}

uint32_t vidi__jenkins(const vidi_str *pieces, size_t count, uint32_t seed)
{
    state s = {UINT32_C(0x9e3779b9), UINT32_C(0x9e3779b9), seed}; /* 2^32 divided by the golden ratio */
    unsigned char tail[BLOCK];
    vidi__blocks(pieces, count, tail, BLOCK, block, &s);
    s.a += vidi__load32(tail);
    s.b += vidi__load32(tail + 4);
    s.c += (vidi__load32(tail + 8) << 8) + (uint32_t)vidi__pieces_length(pieces, count);
    mix(&s);
    return s.c;
}

static vidi__u128 hash(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    (void)key;
    return (vidi__u128){vidi__jenkins(pieces, count, 0), 0};
}

VIDI__HASH_ONE_BY_ONE(hash)

const vidi__hash_fn vidi__hash_jenkins = {
    .name = "jenkins", .bits = 32, .withstands = false, .hash = hash, .batch = hash_batch};
