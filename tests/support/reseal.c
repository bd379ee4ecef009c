/* See reseal.h. */
#include "support/reseal.h"

#include "base/bits.h"
#include "frame/frame.h"
#include "hash/sip.h"
#include "support/check.h"

enum { GENERATION = 16, LENGTH = 24, HEAD_SUM = 56, FOOT_SUM = 24 };

/* The checksums of a piece have its generation and position in their key. */
static void seal_piece(unsigned char *bytes, size_t size, uint64_t payload)
{
    if (payload >= 16) {
        uint64_t generation = vidi__load64(bytes + VIDI__HEAD_BYTES), at = vidi__load64(bytes + VIDI__HEAD_BYTES + 8);
        vidi__store64(bytes + GENERATION, vidi__mix(generation + vidi__mix(at + 1)));
    }
    vidi__store64(bytes + LENGTH, size);
}

void test_reseal(unsigned char *bytes, size_t size)
{
    uint64_t payload, blocks, key[2];
    assert_int_equal(vidi__frame_shape(size, &payload, &blocks), VIDI_OK);
    unsigned char *table = bytes + VIDI__HEAD_BYTES + payload, *foot = table + 8 * blocks;
    if (vidi__load64(bytes + LENGTH))
        seal_piece(bytes, size, payload);
    vidi__store64(bytes + HEAD_SUM, vidi__frame_sum(0, 0, bytes, HEAD_SUM));
    key[0] = vidi__load64(bytes + GENERATION);
    for (uint64_t i = 0; i < blocks; i++) {
        size_t begin = (size_t)i * VIDI__BLOCK_BYTES, left = (size_t)(table - bytes) - begin;
        size_t part = left < VIDI__BLOCK_BYTES ? left : VIDI__BLOCK_BYTES;
        vidi__store64(table + 8 * i, vidi__frame_sum(key[0], i, bytes + begin, part));
    }
    key[1] = UINT64_MAX;
    vidi_str sealed = {(const char *)table, (size_t)blocks * 8 + FOOT_SUM};
    vidi__store64(foot + FOOT_SUM, vidi__siphash(key, &sealed, 1, 1, 3).lo);
}
