/*
 * RocksDB's blocked Bloom filter ("FastLocalBloom", its default since format_version 5), written here from its
 * description. Its own classes cannot take part: since RocksDB 7.0 they are internal, and a filter is built once from all
 * keys, while the job here is to ask and add in turn.
 *
 * A 64-bit hash chooses everything: the upper bits of its low half a line of 64 bytes, its high half the bits in that
 * line. Each probe takes the upper 9 bits of a 32-bit word, which is then multiplied by the golden ratio for the next.
 * Eight probes at once are looked up with AVX2, as RocksDB does. URLs are hashed with XXH3, 256 at a time, then
 * prefetched 16 ahead, in 2 MiB pages: as the other peers and vidi.
 */
#include "subjects.h"

#ifdef BENCH_HAVE_XXHASH
#include <math.h>

#include "peer_groups.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LINE_BITS 512
#define GOLDEN UINT32_C(0x9e3779b9)
#define PROBES_MOST 24

typedef struct held {
    uint32_t *words;
    uint32_t lines;
    unsigned probes;
    bool vectors; /* the processor has AVX2 */
} held;

static held one;

/* ---- the size ---- */

/* RocksDB's choice for a number of bits per key, up to 25. */
static unsigned probes_for(double bits)
{
    static const double most[] = {2.08, 3.58, 5.1, 6.64, 8.3, 10.07, 11.72, 14.001, 16.05, 18.3, 22.001, 25.501};
    const unsigned count = sizeof most / sizeof most[0];
    unsigned probes = 1;
    while (probes <= count && bits > most[probes - 1])
        probes++;
    return probes <= count ? probes : bits > 50 ? PROBES_MOST : (unsigned)((bits - 0.001) / 2) - 1;
}

/* The expected rate of false answers: the number of keys in a line has a Poisson distribution. */
static double rate(double bits, unsigned probes)
{
    double mean = LINE_BITS / bits, chance = exp(-mean), sum = 0;
    for (unsigned keys = 0; keys < 4 * LINE_BITS / bits + 50; keys++) {
        double full = 1 - pow(1 - 1.0 / LINE_BITS, (double)keys * probes);
        sum += chance * pow(full, probes);
        chance *= mean / (keys + 1);
    }
    return sum;
}

/* The fewest bits per key that reach the rate, in steps of a tenth. */
static double bits_for(double error)
{
    double bits = 4;
    while (bits < 50 && rate(bits, probes_for(bits)) > error)
        bits += 0.1;
    return bits;
}

static void *make(const bench_recipe *recipe)
{
    double bits = bits_for(recipe->error), lines = ceil(bits * (double)recipe->capacity / LINE_BITS);
    if (lines > UINT32_MAX)
        return bench_refuse("%.2g lines are too many for its 32 bits", lines);
    one = (held){.lines = (uint32_t)lines, .probes = probes_for(bits)};
#if defined(__x86_64__)
    one.vectors = __builtin_cpu_supports("avx2");
#endif
    one.words = bench_map((size_t)one.lines * BENCH_LINE, true, true);
    return one.words ? &one : bench_refuse("no memory for %llu keys", (unsigned long long)recipe->capacity);
}

static void close_bloom(void *self)
{
    held *bloom = self;
    bench_unmap(bloom->words, (size_t)bloom->lines * BENCH_LINE);
}

/* ---- one key ---- */

static uint32_t *line_of(const held *bloom, uint64_t hash)
{
    return bloom->words + ((uint64_t)(uint32_t)hash * bloom->lines >> 32) * (BENCH_LINE / sizeof(uint32_t));
}

static bool may_match_plainly(const held *bloom, const uint32_t *line, uint64_t hash)
{
    uint32_t h = (uint32_t)(hash >> 32);
    for (unsigned i = 0; i < bloom->probes; i++, h *= GOLDEN)
        if (!(line[h >> 28] >> (h >> 23 & 31) & 1))
            return false;
    return true;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool may_match_8(const held *bloom, const uint32_t *line, uint64_t hash)
{
    const uint32_t g = GOLDEN, g2 = g * g, g4 = g2 * g2, g8 = g4 * g4;
    const __m256i powers = _mm256_setr_epi32(1, (int)g, (int)g2, (int)(g2 * g), (int)g4, (int)(g4 * g), (int)(g4 * g2),
                                             (int)(g4 * g2 * g));
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i low = _mm256_load_si256((const __m256i *)(const void *)line);
    __m256i high = _mm256_load_si256((const __m256i *)(const void *)(line + 8));
    uint32_t h = (uint32_t)(hash >> 32);
    for (unsigned left = bloom->probes;; left -= 8, h *= g8) {
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
#else
#define may_match_8 may_match_plainly
#endif

static bool take(const held *bloom, uint64_t hash, bool adds)
{
    uint32_t *line = line_of(bloom, hash), h = (uint32_t)(hash >> 32);
    bool seen = bloom->vectors ? may_match_8(bloom, line, hash) : may_match_plainly(bloom, line, hash);
    for (unsigned i = 0; adds && !seen && i < bloom->probes; i++, h *= GOLDEN)
        line[h >> 28] |= UINT32_C(1) << (h >> 23 & 31);
    return seen;
}

/* ---- many ---- */

static int64_t take_group(void *self, const uint64_t *hashes, size_t n, bool adds)
{
    const held *bloom = self;
    int64_t seen = 0;
    for (size_t i = 0; i < n && i < BENCH_PEER_AHEAD; i++)
        __builtin_prefetch(line_of(bloom, hashes[i]), 1);
    for (size_t i = 0; i < n; i++) {
        if (i + BENCH_PEER_AHEAD < n)
            __builtin_prefetch(line_of(bloom, hashes[i + BENCH_PEER_AHEAD]), 1);
        seen += take(bloom, hashes[i], adds);
    }
    return seen;
}

static int64_t add(void *self, const bench_work *work)
{
    return bench_in_groups(self, work, true, take_group);
}

static int64_t has(void *self, const bench_work *work)
{
    return bench_in_groups(self, work, false, take_group);
}

static bench_weight weigh(void *self)
{
    return (bench_weight){(size_t)((held *)self)->lines * BENCH_LINE, -1, 1};
}

static const bench_class class = {make, close_bloom, add, has, weigh};

const bench_class *bench_rocksdb(void)
{
    return &class;
}
#else
const bench_class *bench_rocksdb(void)
{
    return NULL;
}
#endif
