/*
 * sip13: SipHash-1-3 with 128-bit output, keyed. The default.
 *
 * SipHash is a pseudo-random function: without the key its values cannot be told from random ones. So a hostile site
 * can neither find URLs that share places with a page it wants lost, nor fill the filter faster than chance. One
 * compression round and three final rounds, instead of 2 and 4, are what Rust and Python chose for their hash tables,
 * for the same reason as here: the attacker never sees a value, only whether a crawler comes. The function itself is in
 * sip.h.
 *
 * Batches are hashed in lanes if the machine has the instructions (sip13_lanes.h), with the same values.
 */
#include "hash/functions.h"
#include "hash/sip.h"

/* Whole words of the longest strings that vidi__sip13_one hashes without a loop. */
#define UNROLLED 16

/* Takes in the last `words` words before `end`, at most UNROLLED. */
static VIDI__INLINE void take_words(vidi__sip *s, const unsigned char *end, size_t words)
{
#define WORD(n)                                                                                                        \
    case n:                                                                                                            \
        vidi__sip_word(s, vidi__load64(end - 8 * (n)), 1);                                                             \
        __attribute__((fallthrough));
    switch (words) {
        WORD(16)
        WORD(15)
        WORD(14)
        WORD(13)
        WORD(12)
        WORD(11)
        WORD(10)
        WORD(9)
        WORD(8)
        WORD(7)
        WORD(6)
        WORD(5)
        WORD(4)
        WORD(3)
        WORD(2)
        WORD(1)
    default:
        break;
    }
#undef WORD
}

/* Up to seven bytes as a number. */
static uint64_t few_bytes(const unsigned char *at, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

vidi__u128 vidi__sip13_one(const vidi__hash_key *key, vidi_str str)
{
    const unsigned char *at = (const unsigned char *)str.ptr;
    vidi__sip s = vidi__sip_start(key->key);
    uint64_t length = (uint64_t)str.len << 56;
    if (VIDI__UNLIKELY(str.len < 8))
        return vidi__sip_end(s, few_bytes(at, str.len) | length, 1, 3);
    size_t words = str.len / 8;
    /* The last 8 bytes without those that belong to whole words: up to 64 bits are dropped, so in two steps. */
    uint64_t tail = vidi__load64(at + str.len - 8) >> 1 >> (~(8 * str.len) & 63);
    const unsigned char *end = at + 8 * words;
    for (; VIDI__UNLIKELY(words > UNROLLED); words--)
        vidi__sip_word(&s, vidi__load64(end - 8 * words), 1);
    take_words(&s, end, words);
    return vidi__sip_end(s, tail | length, 1, 3);
}

static vidi__u128 hash(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    return vidi__siphash(key->key, pieces, count, 1, 3);
}

static void one_by_one(const vidi__hash_key *key, const vidi_str *strs, size_t n, vidi__u128 *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = vidi__sip13_one(key, strs[i]);
}

/*
 * There is no kernel for the two lanes of SSE2. A rotation takes two or three instructions there, but only one in a
 * plain register, so little gain can be expected. With NEON it takes two, and 32 registers hold both groups. All this
 * was estimated, not measured.
 */
vidi__hash_batch_fn *vidi__sip13_batch(vidi__cpu_level level)
{
#if defined(__x86_64__)
    if (level == VIDI__CPU_AVX512)
        return vidi__sip13_avx512;
    if (level == VIDI__CPU_AVX2)
        return vidi__sip13_avx2;
#elif defined(__aarch64__)
    if (level == VIDI__CPU_NEON)
        return vidi__sip13_neon;
#endif
    (void)level;
    return one_by_one;
}

static void batch(const vidi__hash_key *key, const vidi_str *strs, size_t n, vidi__u128 *out)
{
    vidi__sip13_batch(vidi__cpu())(key, strs, n, out);
}

const vidi__hash_fn vidi__hash_sip13 = {
    .name = "sip13", .bits = 128, .keyed = true, .hash = hash, .one = vidi__sip13_one, .batch = batch};
