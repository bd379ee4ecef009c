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

/* Mixes the variables a, b and c, which are words or vectors of words. */
#define MIX                                                                                                            \
    do {                                                                                                               \
        a = (a - b - c) ^ (c >> 13);                                                                                   \
        b = (b - c - a) ^ (a << 8);                                                                                    \
        c = (c - a - b) ^ (b >> 13);                                                                                   \
        a = (a - b - c) ^ (c >> 12);                                                                                   \
        b = (b - c - a) ^ (a << 16);                                                                                   \
        c = (c - a - b) ^ (b >> 5);                                                                                    \
        a = (a - b - c) ^ (c >> 3);                                                                                    \
        b = (b - c - a) ^ (a << 10);                                                                                   \
        c = (c - a - b) ^ (b >> 15);                                                                                   \
    } while (0)

#define START UINT32_C(0x9e3779b9) /* 2^32 divided by the golden ratio */

typedef struct state {
    uint32_t a, b, c;
} state;

static inline void mix(state *s)
{
    uint32_t a = s->a, b = s->b, c = s->c;
    MIX;
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
    state s = {START, START, seed};
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

/*
 * Hashes one string after several salts. A salt is exactly two blocks, so all lanes take the string's blocks at the
 * same time. Up to three vectors at once keep the processor busy; unused lanes repeat the last salt.
 */
enum { LANES = 4, VECTORS = 3, TOGETHER = LANES * VECTORS };

typedef uint32_t lanes __attribute__((vector_size(4 * LANES)));

typedef struct many {
    lanes a[VECTORS], b[VECTORS], c[VECTORS];
} many;

/* Inlined for each number of vectors, so that all of them stay in registers. */
#define ALWAYS static inline __attribute__((always_inline)) void

ALWAYS mix_many(many *s, int vectors)
{
    for (int i = 0; i < vectors; i++) {
        lanes a = s->a[i], b = s->b[i], c = s->c[i];
        MIX;
        s->a[i] = a;
        s->b[i] = b;
        s->c[i] = c;
    }
}

ALWAYS add_many(many *s, int vectors, uint32_t a, uint32_t b, uint32_t c)
{
    for (int i = 0; i < vectors; i++) {
        s->a[i] += a;
        s->b[i] += b;
        s->c[i] += c;
    }
}

ALWAYS add_salts(many *s, int vectors, const unsigned char (*salts)[VIDI__SALT_BYTES], size_t n, size_t at)
{
    for (int i = 0; i < vectors * LANES; i++) {
        const unsigned char *from = salts[(size_t)i < n ? (size_t)i : n - 1] + at;
        s->a[i / LANES][i % LANES] += vidi__load32(from);
        s->b[i / LANES][i % LANES] += vidi__load32(from + 4);
        s->c[i / LANES][i % LANES] += vidi__load32(from + 8);
    }
    mix_many(s, vectors);
}

ALWAYS salted_some(int vectors, const unsigned char (*salts)[VIDI__SALT_BYTES], size_t n, vidi_str str,
                   uint64_t *values)
{
    many s;
    memset(&s, 0, sizeof s);
    add_many(&s, vectors, START, START, 0);
    for (size_t at = 0; at < VIDI__SALT_BYTES; at += BLOCK)
        add_salts(&s, vectors, salts, n, at);
    const unsigned char *from = (const unsigned char *)str.ptr;
    size_t left = str.len;
    for (; left >= BLOCK; from += BLOCK, left -= BLOCK) {
        add_many(&s, vectors, vidi__load32(from), vidi__load32(from + 4), vidi__load32(from + 8));
        mix_many(&s, vectors);
    }
    unsigned char tail[BLOCK] = {0};
    if (left)
        memcpy(tail, from, left);
    add_many(&s, vectors, vidi__load32(tail), vidi__load32(tail + 4),
             (vidi__load32(tail + 8) << 8) + (uint32_t)(str.len + VIDI__SALT_BYTES));
    mix_many(&s, vectors);
    for (size_t i = 0; i < n; i++)
        values[i] = s.c[i / LANES][i % LANES];
}

static void salted(const unsigned char (*salts)[VIDI__SALT_BYTES], size_t n, vidi_str str, uint64_t *values)
{
    for (; n > TOGETHER; n -= TOGETHER, salts += TOGETHER, values += TOGETHER)
        salted_some(3, salts, TOGETHER, str, values);
    if (n <= LANES)
        salted_some(1, salts, n, str, values);
    else if (n <= 2 * LANES)
        salted_some(2, salts, n, str, values);
    else
        salted_some(3, salts, n, str, values);
}

_Static_assert(VIDI__SALT_BYTES % BLOCK == 0, "a salt is whole blocks");

const vidi__hash_fn vidi__hash_jenkins = {.name = "jenkins",
                                          .bits = 32,
                                          .keyed = false,
                                          .hash = hash,
                                          .one = hash_one,
                                          .batch = hash_batch,
                                          .salted = salted};
