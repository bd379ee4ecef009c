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

static vidi__u128 hash(const vidi__hash_key *key, const vidi_str *pieces, size_t count)
{
    return vidi__siphash(key->key, pieces, count, 1, 3);
}

VIDI__HASH_ONE_BY_ONE(hash)

/*
 * There is no kernel for the two lanes of SSE2. A rotation takes two or three instructions there, but only one in a
 * plain register, so little gain is to be expected. With NEON it takes two, and 32 registers hold both groups. All this
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
    return hash_batch;
}

static void batch(const vidi__hash_key *key, const vidi_str *strs, size_t n, vidi__u128 *out)
{
    vidi__sip13_batch(vidi__cpu())(key, strs, n, out);
}

const vidi__hash_fn vidi__hash_sip13 = {.name = "sip13", .bits = 128, .keyed = true, .hash = hash, .batch = batch};
