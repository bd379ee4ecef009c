/*
 * How a URL, a segment or a feature becomes k hash values, and how a hash value becomes a place among m.
 *
 *     derived    from the 128-bit hash that the set has computed: value i is mix(lo + i * odd(hi)). No further hashing.
 *     salted     one function over salt|URL, with k salts of 24 bytes (the thesis, sections 1.5 and 4.1). Or over
 *                URL|salt, which is much worse for functions with 32-bit state: URLs that collide before the salt
 *                collide for every salt.
 *     different  k different functions without salts (the thesis, tables 5.2, 5.3, 5.6, 5.7); each epoch takes others.
 *
 * The seed determines the salts, and the constants that make `derived` differ between epochs, members and stages.
 *
 * A value with 64 good bits becomes a place by multiply-shift. For the papers' 32-bit functions the remainder is used,
 * as their implementations did. Those functions are rejected for more than 2^28 places, which 2^32 values do not hit
 * evenly.
 */
#ifndef VIDI_HASH_POSITIONS_H
#define VIDI_HASH_POSITIONS_H

#include "base/memory.h"
#include "base/params.h"
#include "hash/hash.h"

#define VIDI__K_MAX 64
#define VIDI__NARROW_MAX (UINT64_C(1) << 28)

/* Some bytes of a URL, and their keyed hash if the kind needs hashes. */
typedef struct vidi__part {
    vidi_str str;
    vidi__u128 hash;
} vidi__part;

/* What distinguishes filters of the same shape. */
typedef struct vidi__seed {
    unsigned char key[VIDI_KEY_BYTES];
    uint64_t turn; /* which combination of functions `different` takes */
} vidi__seed;

/*
 * The seed of child number `index` of `count`: a member of a spatial filter, a stage of a scalable one, a region of
 * eigen.
 */
vidi__seed vidi__seed_child(const vidi__seed *seed, const char *role, uint64_t index, uint64_t count);

typedef enum vidi__mode { VIDI__DERIVED, VIDI__SALTED, VIDI__DIFFERENT } vidi__mode;

typedef struct vidi__positions {
    vidi__mode mode;
    unsigned k;
    bool suffix; /* salted: the salt comes after the URL */
    bool narrow; /* some function has only 32 bits */
    uint64_t tweak[2];
    /* Mode derived uses the first function and nothing after it (vidi__positions_keep); salted, the first function. */
    const vidi__hash_fn *functions[VIDI__K_MAX];
    unsigned char salts[VIDI__K_MAX][VIDI__SALT_BYTES];
    vidi__hash_key key;
} vidi__positions;

/* Reads hash, mode, salt and functions from the parameters, for this k. */
int vidi__positions_init(vidi__positions *positions, vidi__params *params, const vidi__seed *seed, unsigned k);

/*
 * Keeps a copy of as much as its mode uses, which is 2 KB less for `derived`. Free it with vidi__positions_drop; NULL
 * is fine. Only vidi__positions_share needs more than such a copy.
 */
int vidi__positions_keep(vidi__memory *memory, const vidi__positions *positions, vidi__positions **kept);
void vidi__positions_drop(vidi__memory *memory, vidi__positions *kept);

/* mode=different: takes the first functions of another instance instead of its own, so that one list describes both. */
int vidi__positions_share(vidi__positions *positions, const vidi__positions *from);

/*
 * The function with which the set hashes its items: the parameter `hash`, or "inner.hash", if it has 128 bits;
 * otherwise sip13. The parameter still counts as unused.
 */
int vidi__positions_item_hash(const vidi__params *params, const vidi__hash_fn **fn);

/* How many functions there are: k in mode `different`, otherwise one. */
static inline unsigned vidi__positions_functions(const vidi__positions *positions)
{
    return positions->mode == VIDI__DIFFERENT ? positions->k : 1;
}

/* Computes the k values of a part. */
void vidi__positions_values(const vidi__positions *positions, const vidi__part *part, uint64_t *values);

/* Value i of an item in mode `derived`, from its hash alone. */
static inline uint64_t vidi__positions_derived(const vidi__positions *positions, vidi__u128 hash, unsigned i)
{
    uint64_t step = (hash.hi ^ positions->tweak[1]) | 1;
    return vidi__mix((hash.lo ^ positions->tweak[0]) + i * step);
}

/* VIDI_EOPTION if the functions have too few bits for this many places. */
int vidi__positions_check(const vidi__positions *positions, uint64_t places);

static inline uint64_t vidi__positions_place(const vidi__positions *positions, uint64_t value, uint64_t m)
{
    return positions->narrow ? value % m : vidi__scale(value, m);
}

/*
 * The mapping from values to places, prepared for one m. The remainder of a 32-bit value takes two multiplications
 * instead of a division (Lemire, Kaser, Kurz, Faster Remainder by Direct Computation, 2019; exact for 32 bits). magic =
 * floor((2^64 - 1) / m) + 1.
 */
typedef struct vidi__placing {
    uint64_t m, magic;
    bool narrow;
} vidi__placing;

static inline vidi__placing vidi__positions_placing(const vidi__positions *positions, uint64_t m)
{
    return (vidi__placing){m, UINT64_MAX / m + 1, positions->narrow};
}

static inline uint64_t vidi__placing_of(const vidi__placing *placing, uint64_t value)
{
    if (!placing->narrow)
        return vidi__scale(value, placing->m);
    if (value <= UINT32_MAX && placing->m <= UINT32_MAX)
        return vidi__scale(placing->magic * value, placing->m);
    return value % placing->m;
}

/* Append "mode=…,hash=…" to the text, as vidi__positions_init reads it, and the names of the functions alone. */
void vidi__positions_describe(const vidi__positions *positions, vidi__text *text);
void vidi__positions_names(const vidi__positions *positions, vidi__text *text);

/*
 * Not 0 if only the choice of functions distinguishes this from other instances. The same functions give the same
 * value.
 */
static inline uint64_t vidi__positions_combination(const vidi__positions *positions)
{
    uint64_t sum = 0;
    if (positions->mode == VIDI__DIFFERENT)
        for (unsigned i = 0; i < positions->k; i++)
            sum += vidi__mix((uint64_t)(uintptr_t)positions->functions[i]);
    return sum;
}

bool vidi__positions_keyed(const vidi__positions *positions);

#endif
