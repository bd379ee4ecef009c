/*
 * Bloom filters whose values the caller hashes once and uses many times. Shape, hash functions, places and bits are
 * those of kind `classic` (filters/bloom.h, hash/positions.h, filters/bloom_bits.h); only the filter around them is
 * left out.
 */
#include "inside/inside.h"

#include <stdlib.h>

#include "filters/bloom.h"
#include "filters/bloom_bits.h"

_Static_assert(VIDI__INSIDE_K_MAX == VIDI__K_MAX, "the door knows how many functions there can be");

/* URLs or values whose bits are fetched before the first of them is looked at. */
enum { FETCHED = 16 };

struct vidi__inside_bloom {
    vidi__bitmap bits; /* of size 0 until it is allocated */
    vidi__placing placing;
    vidi__positions positions;
    vidi__memory memory;
};

static vidi__seed from_door(const vidi__inside_seed *seed)
{
    vidi__seed inner = {.turn = seed->turn};
    memcpy(inner.key, seed->key, sizeof inner.key);
    return inner;
}

static vidi__inside_seed to_door(const vidi__seed *seed)
{
    vidi__inside_seed outer = {.turn = seed->turn};
    memcpy(outer.key, seed->key, sizeof outer.key);
    return outer;
}

/* As lib/set/epoch.c derives it. */
vidi__inside_seed vidi__inside_epoch_seed(const unsigned char key[VIDI_KEY_BYTES], uint64_t epoch)
{
    vidi__inside_seed seed = {.turn = epoch};
    vidi__derive_key(seed.key, key, "epoch", epoch);
    return seed;
}

/* As lib/filters/spatial.c derives it. */
vidi__inside_seed vidi__inside_member_seed(const vidi__inside_seed *seed, uint64_t index, uint64_t count)
{
    vidi__seed parent = from_door(seed), member = vidi__seed_child(&parent, "member", index, count);
    return to_door(&member);
}

static int make(vidi__inside_bloom *bloom, const char *text, uint64_t capacity, const vidi__inside_seed *seed)
{
    vidi__params params;
    vidi__bloom shape;
    VIDI__TRY(vidi__memory_init(&bloom->memory, NULL, 0));
    VIDI__TRY(vidi__params_parse(&params, text));
    vidi__config config = {.params = &params, .capacity = capacity, .seed = from_door(seed)};
    VIDI__TRY(vidi__bloom_read(&shape, &config));
    VIDI__TRY(vidi__positions_init(&bloom->positions, &params, &config.seed, shape.k));
    VIDI__TRY(vidi__positions_check(&bloom->positions, shape.m));
    if (bloom->positions.mode == VIDI__DERIVED)
        return vidi__fail(VIDI_EOPTION, "mode=derived takes hashes that the set has made, and there is none here");
    bloom->placing = vidi__positions_placing(&bloom->positions, shape.m);
    return vidi__bitmap_init(&bloom->bits, &bloom->memory, shape.m, NULL, false);
}

int vidi__inside_bloom_make(vidi__inside_bloom **made, const char *params, uint64_t capacity,
                            const vidi__inside_seed *seed)
{
    vidi__inside_bloom *bloom = *made = calloc(1, sizeof *bloom);
    if (!bloom)
        return vidi__fail(VIDI_EMEMORY, "no memory for a filter");
    int code = make(bloom, params, capacity, seed);
    if (code < 0) {
        free(bloom);
        *made = NULL;
    }
    return code;
}

void vidi__inside_bloom_free(vidi__inside_bloom *bloom)
{
    if (!bloom)
        return;
    vidi__bitmap_free(&bloom->bits, &bloom->memory);
    free(bloom);
}

uint64_t vidi__inside_bloom_size(const vidi__inside_bloom *bloom)
{
    return bloom->bits.m;
}

unsigned vidi__inside_bloom_k(const vidi__inside_bloom *bloom)
{
    return bloom->positions.k;
}

vidi_str vidi__inside_bloom_salt(const vidi__inside_bloom *bloom, unsigned function)
{
    bool salted = bloom->positions.mode == VIDI__SALTED;
    return (vidi_str){(const char *)bloom->positions.salts[function], salted ? VIDI__SALT_BYTES : 0};
}

bool vidi__inside_bloom_wide(const vidi__inside_bloom *bloom)
{
    const vidi__positions *positions = &bloom->positions;
    bool wide = false;
    for (unsigned i = 0; i < vidi__positions_functions(positions); i++)
        wide |= positions->functions[i]->bits > 32;
    return wide;
}

uint64_t vidi__inside_bloom_bits_set(const vidi__inside_bloom *bloom)
{
    return bloom->bits.ones;
}

void vidi__inside_bloom_hash(const vidi__inside_bloom *bloom, const vidi_str *urls, size_t n, uint64_t *values)
{
    for (size_t i = 0; i < n; i++) {
        const vidi__part part = {.str = urls[i]};
        vidi__positions_values(&bloom->positions, &part, values + i * bloom->positions.k);
    }
}

void vidi__inside_bloom_insert(vidi__inside_bloom *bloom, const uint64_t *values, size_t n, bool *seen)
{
    const unsigned k = bloom->positions.k;
    uint64_t places[FETCHED * VIDI__K_MAX];
    for (size_t first = 0; first < n; first += FETCHED) {
        size_t count = n - first < FETCHED ? n - first : FETCHED;
        memcpy(places, values + first * k, count * k * sizeof *places);
        vidi__bloom_bits_fetch(&bloom->bits, &bloom->placing, places, (unsigned)count * k);
        for (size_t i = 0; i < count; i++)
            seen[first + i] = vidi__bloom_bits_set(&bloom->bits, places + i * k, k);
    }
}

void vidi__inside_bloom_insert_each(vidi__inside_bloom *bloom, const uint32_t *values, size_t n)
{
    const vidi__placing placing = bloom->placing;
    vidi__bitmap bits = bloom->bits; /* a copy that nothing points to: its count stays in a register */
    for (size_t i = 0; i < n; i++)
        vidi__bitmap_set(&bits, vidi__placing_of(&placing, values[i]));
    bloom->bits = bits;
}

void vidi__inside_bloom_lookup(const vidi__inside_bloom *bloom, const uint64_t *values, unsigned k, size_t n,
                               bool *seen)
{
    for (size_t i = 0; i < n; i++)
        seen[i] = vidi__bloom_bits_test(&bloom->bits, &bloom->placing, values + i * k, k);
}

void vidi__inside_bloom_lookup_each(const vidi__inside_bloom *bloom, const uint64_t *values, size_t n, bool *set)
{
    const vidi__placing placing = bloom->placing;
    uint64_t places[FETCHED];
    for (size_t first = 0; first < n; first += FETCHED) {
        size_t count = n - first < FETCHED ? n - first : FETCHED;
        for (size_t i = 0; i < count; i++) {
            places[i] = vidi__placing_of(&placing, values[first + i]);
            vidi__bitmap_prefetch(&bloom->bits, places[i]);
        }
        for (size_t i = 0; i < count; i++)
            set[first + i] = vidi__bitmap_test(&bloom->bits, places[i]);
    }
}

/* Where function i puts the URL. */
static uint64_t place(const vidi__inside_bloom *bloom, unsigned i, vidi_str url)
{
    const vidi__positions *positions = &bloom->positions;
    const vidi_str pieces[] = {{(const char *)positions->salts[i], VIDI__SALT_BYTES}, url};
    return vidi__placing_of(&bloom->placing,
                            positions->functions[0]->hash(&positions->key, pieces, VIDI__COUNT(pieces)).lo);
}

bool vidi__inside_bloom_insert_one(vidi__inside_bloom *bloom, unsigned function, vidi_str url)
{
    return !vidi__bitmap_set(&bloom->bits, place(bloom, function, url));
}

bool vidi__inside_bloom_lookup_one(const vidi__inside_bloom *bloom, unsigned function, vidi_str url)
{
    return vidi__bitmap_test(&bloom->bits, place(bloom, function, url));
}
