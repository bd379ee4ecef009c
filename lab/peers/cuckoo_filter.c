/*
 * A cuckoo filter (Fan, Andersen, Kaminsky, Mitzenmacher, "Cuckoo Filter: Practically Better Than Bloom", 2014).
 *
 * A key has a fingerprint of f bits, never 0, and may lie in two buckets of four slots. Either bucket follows from the
 * other one and the fingerprint alone, so a fingerprint can be moved without knowing its key:
 *
 *   bucket 1 = of the hash          bucket 2 = bucket 1 ^ hash(fingerprint)          with 2^i buckets, as in the paper
 *                                   bucket 2 = hash(fingerprint) - bucket 1 mod m    with any other number m
 *
 * The second form is our addition, because filters are compared at sizes that are not powers of two. If both buckets
 * are full, a random fingerprint of one of them moves to its other bucket, and so on, at most KICKS times. Then the
 * last one is kept aside, and the filter is full. With the paper's 500 moves, larger filters are full at lower loads:
 * 98 % of 300 slots, 96 % of 300,000.
 *
 *   bucket:   | slot 0 | slot 1 | slot 2 | slot 3 |     f bits each, without gaps between buckets; 0: empty
 *
 * Up to 16 bits, all slots of a bucket are read with one load of 64 bits, up to 28 bits two at a time, and above that
 * each alone. The slots of a load are compared at once: one that is equal becomes 0 after XOR, and (x - ones) & ~x &
 * highs is not 0 if and only if some slot of x is.
 */
#include <string.h>

#include "lab/engine/lab.h"
#include "lab/urls/mix.h"
#include "lab/peers/peer_filters.h"

enum { KICKS = 5000, BITS_LEAST = 4, FOUR_MOST = 16 };
enum { SPARE = 6 }; /* buckets more than the load needs, because a few hundred may be filled unevenly */
enum { SLACK = 8 }; /* bytes that loads may read past the end */

struct lab_cuckoo {
    unsigned char *bytes;
    uint64_t buckets, size;
    unsigned bits;
    bool powers;          /* the number of buckets is a power of two */
    unsigned together;    /* slots that one load reads: 4, 2 or 1 */
    uint64_t ones, highs; /* the lowest and the highest bit of each of these */
    uint64_t random;
    uint64_t left_bucket, left_tag; /* the fingerprint that found no room; 0: there is room */
    const vidi_allocator *memory;
};

/* A fingerprint and one of its buckets. */
typedef struct place {
    uint64_t bucket, tag;
} place;

int lab_cuckoo_make(lab_cuckoo **made, uint64_t buckets, unsigned bits, const vidi_allocator *memory)
{
    lab_cuckoo *filter = *made = NULL;
    if (bits < BITS_LEAST || bits > LAB_CUCKOO_BITS_MOST || buckets == 0 || buckets > UINT64_C(1) << 40)
        return lab_fail(VIDI_EARGUMENT, "no cuckoo filter has %u bits and that many buckets", bits);
    filter = lab_peer_allocate(memory, sizeof *filter);
    if (!filter)
        return lab_fail(VIDI_EMEMORY, "no memory for a cuckoo filter");
    *filter = (lab_cuckoo){.buckets = buckets,
                           .bits = bits,
                           .powers = (buckets & (buckets - 1)) == 0,
                           .together = bits <= FOUR_MOST               ? 4
                                       : bits <= LAB_CUCKOO_BITS_QUICK ? 2
                                                                       : 1,
                           .random = UINT64_C(0x9e3779b97f4a7c15),
                           .memory = memory};
    for (unsigned slot = 0; slot < filter->together; slot++) {
        filter->ones |= UINT64_C(1) << slot * bits;
        filter->highs |= UINT64_C(1) << (slot * bits + bits - 1);
    }
    filter->size = (buckets * LAB_CUCKOO_SLOTS * bits + 7) / 8 + SLACK;
    filter->bytes = lab_peer_allocate(memory, filter->size);
    if (!filter->bytes) {
        lab_cuckoo_free(filter);
        return lab_fail(VIDI_EMEMORY, "no memory for a cuckoo filter");
    }
    *made = filter;
    return VIDI_OK;
}

void lab_cuckoo_free(lab_cuckoo *filter)
{
    if (!filter)
        return;
    lab_peer_release(filter->memory, filter->bytes, filter->size);
    lab_peer_release(filter->memory, filter, sizeof *filter);
}

uint64_t lab_cuckoo_buckets_for(uint64_t keys)
{
    return (uint64_t)((double)keys / (LAB_CUCKOO_SLOTS * LAB_CUCKOO_LOAD)) + SPARE;
}

uint64_t lab_cuckoo_bytes(const lab_cuckoo *filter)
{
    return filter->size;
}

/* ---- slots ---- */

static uint64_t load(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Shifts and masks assume that the first byte is the lowest. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bits are read from little-endian words");

static inline uint64_t get(const lab_cuckoo *filter, uint64_t bucket, unsigned slot)
{
    uint64_t at = (bucket * LAB_CUCKOO_SLOTS + slot) * filter->bits;
    return load(filter->bytes + at / 8) >> at % 8 & ((UINT64_C(1) << filter->bits) - 1);
}

static inline void put(lab_cuckoo *filter, uint64_t bucket, unsigned slot, uint64_t tag)
{
    uint64_t at = (bucket * LAB_CUCKOO_SLOTS + slot) * filter->bits, mask = (UINT64_C(1) << filter->bits) - 1;
    uint64_t word = load(filter->bytes + at / 8);
    word = (word & ~(mask << at % 8)) | tag << at % 8;
    memcpy(filter->bytes + at / 8, &word, sizeof word);
}

/* The slot of the bucket with that content; LAB_CUCKOO_SLOTS: none. */
static inline unsigned find(const lab_cuckoo *filter, uint64_t bucket, uint64_t tag)
{
    for (unsigned slot = 0; slot < LAB_CUCKOO_SLOTS; slot += filter->together) {
        uint64_t at = (bucket * LAB_CUCKOO_SLOTS + slot) * filter->bits;
        uint64_t x = load(filter->bytes + at / 8) >> at % 8 ^ tag * filter->ones;
        uint64_t found = (x - filter->ones) & ~x & filter->highs;
        if (found)
            return slot + (unsigned)__builtin_ctzll(found) / filter->bits; /* the first zero: borrows only go up */
    }
    return LAB_CUCKOO_SLOTS;
}

/* Replaces `old` in the bucket, if it is there. */
static inline bool replace(lab_cuckoo *filter, uint64_t bucket, uint64_t old, uint64_t new)
{
    unsigned slot = find(filter, bucket, old);
    if (slot == LAB_CUCKOO_SLOTS)
        return false;
    put(filter, bucket, slot, new);
    return true;
}

/* ---- one key ---- */

/* The upper bits of the hash choose the bucket, the lower ones the fingerprint. */
static inline place place_of(const lab_cuckoo *filter, uint64_t word)
{
    uint64_t tag = word & ((UINT64_C(1) << filter->bits) - 1);
    return (place){lab_scale(word, filter->buckets), tag + (tag == 0)};
}

static inline uint64_t other_of(const lab_cuckoo *filter, place at)
{
    uint64_t hash = at.tag * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
    if (filter->powers)
        return at.bucket ^ (hash & (filter->buckets - 1));
    hash = lab_scale(hash * UINT64_C(0xd6e8feb86659fd93), filter->buckets);
    return hash >= at.bucket ? hash - at.bucket : hash + filter->buckets - at.bucket;
}

static inline bool has(const lab_cuckoo *filter, place at, uint64_t other)
{
    if (find(filter, at.bucket, at.tag) < LAB_CUCKOO_SLOTS || find(filter, other, at.tag) < LAB_CUCKOO_SLOTS)
        return true;
    return filter->left_tag == at.tag && (filter->left_bucket == at.bucket || filter->left_bucket == other);
}

static uint64_t draw(lab_cuckoo *filter)
{
    filter->random ^= filter->random << 13;
    filter->random ^= filter->random >> 7;
    filter->random ^= filter->random << 17;
    return filter->random;
}

/* Moves fingerprints until one finds room; the last one is kept aside. */
static void kick(lab_cuckoo *filter, place at)
{
    for (int kicks = 0; kicks < KICKS; kicks++) {
        unsigned slot = draw(filter) % LAB_CUCKOO_SLOTS;
        uint64_t moved = get(filter, at.bucket, slot);
        put(filter, at.bucket, slot, at.tag);
        at.tag = moved;
        at.bucket = other_of(filter, at);
        if (replace(filter, at.bucket, 0, at.tag))
            return;
    }
    filter->left_bucket = at.bucket;
    filter->left_tag = at.tag;
}

static inline int insert(lab_cuckoo *filter, place at, uint64_t other)
{
    if (filter->left_tag)
        return lab_fail(VIDI_ELIMIT, "the cuckoo filter is full");
    if (replace(filter, at.bucket, 0, at.tag) || replace(filter, other, 0, at.tag))
        return VIDI_OK;
    if (draw(filter) & 1)
        at.bucket = other;
    kick(filter, at);
    return VIDI_OK;
}

/* ---- batches ---- */

static inline void prefetch(const lab_cuckoo *filter, uint64_t word)
{
    place at = place_of(filter, word);
    uint64_t other = other_of(filter, at), bits = (uint64_t)LAB_CUCKOO_SLOTS * filter->bits;
    __builtin_prefetch(filter->bytes + at.bucket * bits / 8);
    __builtin_prefetch(filter->bytes + other * bits / 8);
}

int64_t lab_cuckoo_add(lab_cuckoo *filter, lab_peer_keys keys, bool *seen)
{
    int64_t found = 0;
    for (size_t i = 0; i < keys.count; i++) {
        if (i + LAB_PEER_AHEAD < keys.count)
            prefetch(filter, lab_peer_key(&keys, i + LAB_PEER_AHEAD));
        place at = place_of(filter, lab_peer_key(&keys, i));
        uint64_t other = other_of(filter, at);
        bool there = has(filter, at, other);
        if (!there)
            LAB_TRY(insert(filter, at, other));
        if (seen)
            seen[i] = there;
        found += there;
    }
    return found;
}

int64_t lab_cuckoo_has(const lab_cuckoo *filter, lab_peer_keys keys, bool *seen)
{
    int64_t found = 0;
    for (size_t i = 0; i < keys.count; i++) {
        if (i + LAB_PEER_AHEAD < keys.count)
            prefetch(filter, lab_peer_key(&keys, i + LAB_PEER_AHEAD));
        place at = place_of(filter, lab_peer_key(&keys, i));
        bool there = has(filter, at, other_of(filter, at));
        if (seen)
            seen[i] = there;
        found += there;
    }
    return found;
}

/* Removes the fingerprint that was kept aside before those in the buckets, so that there is room again. */
int64_t lab_cuckoo_remove(lab_cuckoo *filter, lab_peer_keys keys)
{
    int64_t found = 0;
    for (size_t i = 0; i < keys.count; i++) {
        place at = place_of(filter, lab_peer_key(&keys, i));
        uint64_t other = other_of(filter, at);
        if (filter->left_tag == at.tag && (filter->left_bucket == at.bucket || filter->left_bucket == other)) {
            filter->left_tag = 0;
            found++;
        } else if (replace(filter, at.bucket, at.tag, 0) || replace(filter, other, at.tag, 0)) {
            found++;
        }
    }
    return found;
}

int lab_cuckoo_merge(lab_cuckoo *filter, const lab_cuckoo *other)
{
    if (filter->buckets != other->buckets || filter->bits != other->bits)
        return lab_fail(VIDI_ECANNOT, "the cuckoo filters have different sizes");
    for (uint64_t bucket = 0; bucket < other->buckets; bucket++)
        for (unsigned slot = 0; slot < LAB_CUCKOO_SLOTS; slot++) {
            place at = {bucket, get(other, bucket, slot)};
            uint64_t second = other_of(filter, at);
            if (at.tag && !has(filter, at, second))
                LAB_TRY(insert(filter, at, second));
        }
    place at = {other->left_bucket, other->left_tag};
    return at.tag && !has(filter, at, other_of(filter, at)) ? insert(filter, at, other_of(filter, at)) : VIDI_OK;
}
