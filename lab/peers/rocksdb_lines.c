/*
 * RocksDB's blocked Bloom filter ("FastLocalBloom", its default since format version 5), written from its description.
 *
 * A 64-bit hash chooses everything: its low half a line of 64 bytes, its high half the bits in that line. Each probe
 * takes the upper 9 bits of a 32-bit word, which is then multiplied by the golden ratio for the next.
 *
 *   hash:   | h: 32 bits, the bits in the line          | 32 bits, the line: times lines >> 32 |
 *   probe:  | word: 4 | bit: 5 | 23 more |   of h, h g, h g^2, ...
 *
 * Eight probes at once are looked up with AVX2 where the processor has it, as RocksDB does. RocksDB itself collects the
 * hashes of all keys and builds a filter once; here keys are looked up and added in turn.
 */
#include <math.h>

#include "lab/peers/peer_filters.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { LINE_BITS = 512, LINE_WORDS = 16, PROBES_MOST = 24 };
#define GOLDEN UINT32_C(0x9e3779b9)

/* ---- the size ---- */

unsigned lab_rocksdb_probes(double bits)
{
    static const double most[] = {2.08, 3.58, 5.1, 6.64, 8.3, 10.07, 11.72, 14.001, 16.05, 18.3, 22.001, 25.501};
    const unsigned count = sizeof most / sizeof most[0];
    unsigned probes = 1;
    while (probes <= count && bits > most[probes - 1])
        probes++;
    return probes <= count ? probes : bits > 50 ? PROBES_MOST : (unsigned)((bits - 0.001) / 2) - 1;
}

/* The number of keys in a line has a Poisson distribution. Two keys with the same upper half set the same bits. */
double lab_rocksdb_rate(double bits, unsigned probes)
{
    double mean = LINE_BITS / bits, chance = exp(-mean), sum = 0;
    for (unsigned keys = 0; keys < 4 * LINE_BITS / bits + 50; keys++) {
        double full = 1 - pow(1 - 1.0 / LINE_BITS, (double)keys * probes);
        sum += chance * pow(full, probes);
        chance *= mean / (keys + 1);
    }
    return sum + (1 - sum) * ldexp(mean, -32);
}

double lab_rocksdb_bits(double rate)
{
    double bits = 4;
    while (bits < 50 && lab_rocksdb_rate(bits, lab_rocksdb_probes(bits)) > rate)
        bits += 0.1;
    return bits;
}

/* ---- one key ---- */

static inline uint32_t *line_of(const lab_rocksdb *filter, uint64_t hash)
{
    return filter->words + ((uint64_t)(uint32_t)hash * filter->lines >> 32) * LINE_WORDS;
}

static inline void mark(const lab_rocksdb *filter, uint32_t *line, uint64_t hash)
{
    uint32_t h = (uint32_t)(hash >> 32);
    for (unsigned i = 0; i < filter->probes; i++, h *= GOLDEN)
        line[h >> 28] |= UINT32_C(1) << (h >> 23 & 31);
}

static inline bool may_match(const lab_rocksdb *filter, const uint32_t *line, uint64_t hash)
{
    uint32_t h = (uint32_t)(hash >> 32);
    for (unsigned i = 0; i < filter->probes; i++, h *= GOLDEN)
        if (!(line[h >> 28] >> (h >> 23 & 31) & 1))
            return false;
    return true;
}

/* ---- batches, once in plain C and once with AVX2 ---- */

typedef bool matcher(const lab_rocksdb *filter, const uint32_t *line, uint64_t hash);

/* Always inlined, so that each caller has its own loop with its own way of matching. */
__attribute__((always_inline)) static inline int64_t take(const lab_rocksdb *filter, lab_peer_keys keys, bool adds,
                                                          bool *seen, matcher *matches)
{
    int64_t found = 0;
    for (size_t i = 0; i < keys.count && i < LAB_PEER_AHEAD; i++)
        __builtin_prefetch(line_of(filter, lab_peer_key(&keys, i)), 1);
    for (size_t i = 0; i < keys.count; i++) {
        if (i + LAB_PEER_AHEAD < keys.count)
            __builtin_prefetch(line_of(filter, lab_peer_key(&keys, i + LAB_PEER_AHEAD)), 1);
        uint64_t hash = lab_peer_key(&keys, i);
        uint32_t *line = line_of(filter, hash);
        bool there = matches(filter, line, hash);
        if (adds && !there)
            mark(filter, line, hash);
        if (seen)
            seen[i] = there;
        found += there;
    }
    return found;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static inline bool may_match_8(const lab_rocksdb *filter, const uint32_t *line,
                                                               uint64_t hash)
{
    const uint32_t g = GOLDEN, g2 = g * g, g4 = g2 * g2, g8 = g4 * g4;
    const __m256i powers = _mm256_setr_epi32(1, (int)g, (int)g2, (int)(g2 * g), (int)g4, (int)(g4 * g), (int)(g4 * g2),
                                             (int)(g4 * g2 * g));
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i low = _mm256_load_si256((const __m256i *)(const void *)line);
    __m256i high = _mm256_load_si256((const __m256i *)(const void *)(line + 8));
    uint32_t h = (uint32_t)(hash >> 32);
    for (unsigned left = filter->probes;; left -= 8, h *= g8) {
        __m256i probes = _mm256_mullo_epi32(_mm256_set1_epi32((int)h), powers);
        __m256i word = _mm256_srli_epi32(probes, 28),
                bit = _mm256_and_si256(_mm256_srli_epi32(probes, 23), _mm256_set1_epi32(31));
        /* the highest bit of a probe is the half of the line */
        __m256 found =
            _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, word)),
                             _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, word)), _mm256_castsi256_ps(probes));
        __m256i wanted = _mm256_sllv_epi32(_mm256_set1_epi32(1), bit);
        wanted = _mm256_and_si256(wanted, _mm256_cmpgt_epi32(_mm256_set1_epi32((int)left), numbers));
        if (!_mm256_testc_si256(_mm256_castps_si256(found), wanted))
            return false;
        if (left <= 8)
            return true;
    }
}

__attribute__((target("avx2"))) static int64_t take_avx2(const lab_rocksdb *filter, lab_peer_keys keys, bool adds,
                                                         bool *seen)
{
    return take(filter, keys, adds, seen, may_match_8);
}

static int64_t take_best(const lab_rocksdb *filter, lab_peer_keys keys, bool adds, bool *seen)
{
    return __builtin_cpu_supports("avx2") ? take_avx2(filter, keys, adds, seen)
                                          : take(filter, keys, adds, seen, may_match);
}
#else
static int64_t take_best(const lab_rocksdb *filter, lab_peer_keys keys, bool adds, bool *seen)
{
    return take(filter, keys, adds, seen, may_match);
}
#endif

int64_t lab_rocksdb_add(const lab_rocksdb *filter, lab_peer_keys keys, bool *seen)
{
    return take_best(filter, keys, true, seen);
}

int64_t lab_rocksdb_has(const lab_rocksdb *filter, lab_peer_keys keys, bool *seen)
{
    return take_best(filter, keys, false, seen);
}

void lab_rocksdb_merge(const lab_rocksdb *filter, const lab_rocksdb *other)
{
    for (uint64_t i = 0; i < (uint64_t)filter->lines * LINE_WORDS; i++)
        filter->words[i] |= other->words[i];
}
