/*
 * Jenkins's lookup2 and MurmurHash2 of a salt and a URL. Both functions read their input from front to back and keep
 * nothing of it but a state, so the state after the URL serves for every salt that follows:
 *
 *     URL ── state ──┬── salt 1 ── value 1
 *                    ├── salt 2 ── value 2
 *                    └── …
 *
 * That saves time. It also shows what a salt after the URL cannot do: two URLs with the same state have the same value
 * with every salt. The state of lookup2 has 96 bits, that of MurmurHash2 has 32.
 *
 * These are the library's functions (lib/hash) written once more, because the library does not tell the state; a test
 * compares the values.
 */
#include <string.h>

#include "lab/thesis/salts.h"

enum { JENKINS_BLOCK = 12, MURMUR_BLOCK = 4, STATE_WORDS = 3 };

typedef struct state {
    uint32_t words[STATE_WORDS];
} state;

static inline uint32_t word_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* ---- lookup2 ---- */

/* One of nine steps: changes x by the other two words and by one of them shifted. */
#define STEP(x, y, z, shifted) ((x) = ((x) - (y) - (z)) ^ (shifted))

static inline void jenkins_mix(uint32_t *w)
{
    static const unsigned right[3][2] = {{13, 13}, {12, 5}, {3, 15}}, left[3] = {8, 16, 10};
    uint32_t a = w[0], b = w[1], c = w[2];
#pragma GCC unroll 3
    for (unsigned i = 0; i < 3; i++) {
        STEP(a, b, c, c >> right[i][0]);
        STEP(b, c, a, a << left[i]);
        STEP(c, a, b, b >> right[i][1]);
    }
    w[0] = a;
    w[1] = b;
    w[2] = c;
}

static inline void jenkins_block(uint32_t *w, const unsigned char *bytes)
{
    for (unsigned i = 0; i < 3; i++)
        w[i] += word_at(bytes + 4 * i);
    jenkins_mix(w);
}

static uint32_t jenkins_end(uint32_t *w, const unsigned char *tail, size_t total)
{
    w[0] += word_at(tail);
    w[1] += word_at(tail + 4);
    w[2] += (word_at(tail + 8) << 8) + (uint32_t)total;
    jenkins_mix(w);
    return w[2];
}

/* ---- MurmurHash2 ---- */

#define MURMUR_FACTOR UINT32_C(0x5bd1e995)

static inline void murmur_block(uint32_t *h, const unsigned char *bytes)
{
    uint32_t word = word_at(bytes) * MURMUR_FACTOR;
    *h = *h * MURMUR_FACTOR ^ (word ^ word >> 24) * MURMUR_FACTOR;
}

static uint32_t murmur_end(uint32_t h, const unsigned char *tail, size_t left)
{
    if (left > 0)
        h = (h ^ word_at(tail)) * MURMUR_FACTOR;
    h = (h ^ h >> 13) * MURMUR_FACTOR;
    return h ^ h >> 15;
}

/* ---- both ---- */

/* The state before the first byte; `total` is the length of URL and salt. */
static state begin(lab_salted_function function, size_t total)
{
    const uint32_t golden = UINT32_C(0x9e3779b9);
    return function == LAB_SALTED_JENKINS ? (state){{golden, golden, 0}} : (state){{(uint32_t)total, 0, 0}};
}

/* Reads the whole blocks of some bytes and returns how many bytes they are. */
static size_t read_blocks(lab_salted_function function, state *state, const unsigned char *bytes, size_t length)
{
    size_t used = 0;
    struct state own = *state;
    if (function == LAB_SALTED_JENKINS)
        for (; length - used >= JENKINS_BLOCK; used += JENKINS_BLOCK)
            jenkins_block(own.words, bytes + used);
    else
        for (; length - used >= MURMUR_BLOCK; used += MURMUR_BLOCK)
            murmur_block(own.words, bytes + used);
    *state = own;
    return used;
}

/* Reads the remaining bytes and returns the value. */
static uint32_t end(lab_salted_function function, state state, const unsigned char *bytes, size_t length, size_t total)
{
    unsigned char tail[JENKINS_BLOCK] = {0};
    size_t used = read_blocks(function, &state, bytes, length);
    memcpy(tail, bytes + used, length - used);
    return function == LAB_SALTED_JENKINS ? jenkins_end(state.words, tail, total)
                                          : murmur_end(state.words[0], tail, length - used);
}

void lab_salted_values(lab_salted_function function, lab_salt_place place, const unsigned char (*salts)[LAB_SALT_BYTES],
                       unsigned k, vidi_str url, uint32_t *values)
{
    unsigned char text[LAB_SALTED_URL_MAX + LAB_SALT_BYTES]; /* what has to be read anew for each salt */
    const unsigned char *bytes = (const unsigned char *)url.ptr;
    size_t total = url.len + LAB_SALT_BYTES;
    state state = begin(function, total);
    size_t used = place == LAB_SALT_AFTER_ONCE ? read_blocks(function, &state, bytes, url.len) : 0;
    size_t left = url.len - used, salt_at = place == LAB_SALT_BEFORE ? 0 : left;
    memcpy(text + (place == LAB_SALT_BEFORE ? LAB_SALT_BYTES : 0), bytes + used, left);
    for (unsigned i = 0; i < k; i++) {
        memcpy(text + salt_at, salts[i], LAB_SALT_BYTES);
        values[i] = end(function, state, text, left + LAB_SALT_BYTES, total);
    }
}
