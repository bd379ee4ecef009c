/* Schemes, seeds and items for the tests of lib/hash/positions.c. */
#ifndef TESTS_HASH_POSITION_CASES_H
#define TESTS_HASH_POSITION_CASES_H

#include "support/check.h"

#include "hash/functions.h"
#include "hash/positions.h"

/* A seed for each number. */
static inline vidi__seed seed_of(uint64_t number)
{
    static const unsigned char root[VIDI_KEY_BYTES] = "scheme tests";
    vidi__seed seed = {.turn = 0};
    vidi__derive_key(seed.key, root, "test", number);
    return seed;
}

/* From parameters as text; what is left over is an error too. */
static inline int init(vidi__positions *positions, const char *text, const vidi__seed *seed, unsigned k)
{
    vidi__params params;
    assert_int_equal(vidi__params_parse(&params, text), VIDI_OK);
    VIDI__TRY(vidi__positions_init(positions, &params, seed, k));
    return vidi__params_done(&params);
}

/* The same, where it must succeed. */
static inline vidi__positions make(const char *text, const vidi__seed *seed, unsigned k)
{
    vidi__positions positions;
    check(init(&positions, text, seed, k) == VIDI_OK, "%s: %s", text, vidi_message());
    return positions;
}

/* Item `number` as a set would have it: eight bytes and their keyed hash. */
static inline vidi__part item(uint64_t number, unsigned char bytes[8])
{
    static const vidi__hash_key key = {.key = {UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)}};
    vidi__store64(bytes, number);
    vidi__part part = {.str = {(char *)bytes, 8}};
    part.hash = vidi__hash(&vidi__hash_sip13, &key, part.str);
    return part;
}

#endif
