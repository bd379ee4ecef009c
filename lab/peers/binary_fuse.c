/*
 * A binary fuse filter (Graf, Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters", 2022).
 *
 * An array of places with f bits each. A key has three (or four) places in three (or four) successive segments, one in
 * each, and a fingerprint of f bits. The array is filled so that the XOR of a key's places is its fingerprint; any
 * other key has that property with probability 2^-f.
 *
 *   | segment | segment | segment | segment | ...        all segments have the same power of two as length
 *        *         *         *                           a key begins in one of them, all but the last two or three
 *
 * It is built once from all keys: while some place belongs to one key alone, that key is put on a stack, and leaves its
 * other places. In reverse order, each key's own place is set so that the XOR is right. If keys are left over that
 * share all their places, it is tried again with another seed. The lengths of the array and of the segments are those
 * of the paper: 1.125 places a key for three, 1.075 for four, and more for few keys.
 *
 * Until it is frozen the filter has to keep all keys, and while it is built, two numbers and a counter for each place
 * and a stack of the keys. After that only the array is left. Nothing can be added, removed or listed.
 */
#include <math.h>
#include <string.h>

#include "lab/engine/lab.h"
#include "lab/urls/mix.h"
#include "lab/peers/peer_filters.h"

enum { ARITY_MOST = 4, TRIES = 100, SLACK = 8, KEYS_FIRST = 1024, OFFSET_BITS = 18 };

struct lab_fuse {
    unsigned char *bytes;                   /* NULL until it is frozen */
    uint64_t size, places, starts, segment; /* a key's first place is one of the first `starts` */
    unsigned arity, bits;
    uint64_t seed;
    uint64_t *keys; /* NULL once it is frozen */
    uint64_t count, room;
    const vidi_allocator *memory;
};

int lab_fuse_make(lab_fuse **made, uint64_t keys, unsigned arity, unsigned bits, const vidi_allocator *memory)
{
    *made = NULL;
    if (arity < 3 || arity > ARITY_MOST || bits < 1 || bits > LAB_FUSE_BITS_MOST || keys >= UINT32_MAX)
        return lab_fail(VIDI_EARGUMENT, "no binary fuse filter is %u-wise with %u bits", arity, bits);
    lab_fuse *filter = lab_peer_allocate(memory, sizeof *filter);
    if (!filter)
        return lab_fail(VIDI_EMEMORY, "no memory for a binary fuse filter");
    *filter = (lab_fuse){.arity = arity, .bits = bits, .memory = memory, .room = keys ? keys : KEYS_FIRST};
    filter->keys = lab_peer_allocate(memory, filter->room * sizeof *filter->keys);
    if (!filter->keys) {
        lab_fuse_free(filter);
        return lab_fail(VIDI_EMEMORY, "no memory for %llu keys", (unsigned long long)keys);
    }
    *made = filter;
    return VIDI_OK;
}

static void forget_keys(lab_fuse *filter)
{
    lab_peer_release(filter->memory, filter->keys, filter->room * sizeof *filter->keys);
    filter->keys = NULL;
}

void lab_fuse_free(lab_fuse *filter)
{
    if (!filter)
        return;
    forget_keys(filter);
    lab_peer_release(filter->memory, filter->bytes, filter->size);
    lab_peer_release(filter->memory, filter, sizeof *filter);
}

int lab_fuse_collect(lab_fuse *filter, lab_peer_keys keys)
{
    if (!filter->keys)
        return lab_fail(VIDI_ECANNOT, "a binary fuse filter takes no keys once it is built");
    if (filter->count + keys.count > filter->room) {
        uint64_t room = filter->room;
        while (room < filter->count + keys.count)
            room *= 2;
        uint64_t *moved = room < UINT32_MAX ? lab_peer_allocate(filter->memory, room * sizeof *moved) : NULL;
        if (!moved)
            return lab_fail(VIDI_EMEMORY, "no memory for %llu keys", (unsigned long long)room);
        memcpy(moved, filter->keys, filter->count * sizeof *moved);
        forget_keys(filter);
        filter->keys = moved;
        filter->room = room;
    }
    for (size_t i = 0; i < keys.count; i++)
        filter->keys[filter->count++] = lab_peer_key(&keys, i);
    return VIDI_OK;
}

/* ---- sizes, as in the paper ---- */

static uint64_t segment_length(double keys, unsigned arity)
{
    double power = arity == 3 ? log(keys) / log(3.33) + 2.25 : log(keys) / log(2.91) - 0.5;
    return UINT64_C(1) << (unsigned)fmin(fmax(floor(power), 2), OFFSET_BITS);
}

static double size_factor(double keys, unsigned arity)
{
    return arity == 3 ? fmax(1.125, 0.875 + 0.25 * log(1e6) / log(keys))
                      : fmax(1.075, 0.77 + 0.305 * log(6e5) / log(keys));
}

uint64_t lab_fuse_places(uint64_t keys, unsigned arity)
{
    double n = fmax((double)keys, 2);
    uint64_t segment = segment_length(n, arity), places = (uint64_t)ceil(n * size_factor(n, arity));
    uint64_t segments = (places + segment - 1) / segment;
    return (segments < arity ? arity : segments) * segment;
}

static void set_sizes(lab_fuse *filter)
{
    filter->segment = segment_length(fmax((double)filter->count, 2), filter->arity);
    filter->places = lab_fuse_places(filter->count, filter->arity);
    filter->starts = filter->places - (filter->arity - 1) * filter->segment;
    filter->size = (filter->places * filter->bits + 7) / 8 + SLACK;
}

/* ---- places and fingerprints ---- */

/*
 * Two words that differ with each seed: the first has the places; the second the fingerprint, and above it one offset.
 */
typedef struct spread {
    uint64_t places, tag;
} spread;

static inline spread spread_of(const lab_fuse *filter, uint64_t key)
{
    uint64_t places = lab_mix(key + filter->seed);
    return (spread){places, lab_mix(places + UINT64_C(0x9e3779b97f4a7c15))};
}

/*
 * The first place lies anywhere; each further one in the next segment, at an offset that other bits of the hash change.
 */
static inline uint64_t place_of(const lab_fuse *filter, spread spread, unsigned number)
{
    uint64_t first = lab_scale(spread.places, filter->starts), offset;
    if (number == 0)
        return first;
    offset = number < 3 ? spread.places >> OFFSET_BITS * (number - 1) : spread.tag >> LAB_FUSE_BITS_MOST;
    return (first + number * filter->segment) ^ (offset & (filter->segment - 1));
}

static inline uint64_t tag_of(const lab_fuse *filter, spread spread)
{
    return spread.tag & ((UINT64_C(1) << filter->bits) - 1);
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bits are read from little-endian words");

static inline uint64_t get(const lab_fuse *filter, uint64_t place)
{
    uint64_t at = place * filter->bits, word;
    memcpy(&word, filter->bytes + at / 8, sizeof word);
    return word >> at % 8 & ((UINT64_C(1) << filter->bits) - 1);
}

/* The place must be 0 before. */
static inline void set(lab_fuse *filter, uint64_t place, uint64_t tag)
{
    uint64_t at = place * filter->bits, word;
    memcpy(&word, filter->bytes + at / 8, sizeof word);
    word |= tag << at % 8;
    memcpy(filter->bytes + at / 8, &word, sizeof word);
}

/* ---- building ---- */

/* What the keys of each place are, and the order in which keys find a place of their own. */
typedef struct peeling {
    uint64_t *keys;         /* [place]: XOR of its keys */
    unsigned char *owners;  /* [place]: number of its keys times 4, and the XOR of which of their places it is */
    uint32_t *alone;        /* [place]: places with one key that are still to be visited */
    uint64_t *stack;        /* [key] */
    unsigned char *numbers; /* [key]: which of the key's places is its own */
} peeling;

static void free_peeling(const lab_fuse *filter, peeling *peeling)
{
    lab_peer_release(filter->memory, peeling->keys, filter->places * sizeof *peeling->keys);
    lab_peer_release(filter->memory, peeling->owners, filter->places);
    lab_peer_release(filter->memory, peeling->alone, filter->places * sizeof *peeling->alone);
    lab_peer_release(filter->memory, peeling->stack, filter->count * sizeof *peeling->stack + 1);
    lab_peer_release(filter->memory, peeling->numbers, filter->count + 1);
}

static bool make_peeling(const lab_fuse *filter, peeling *peeling)
{
    peeling->keys = lab_peer_allocate(filter->memory, filter->places * sizeof *peeling->keys);
    peeling->owners = lab_peer_allocate(filter->memory, filter->places);
    peeling->alone = lab_peer_allocate(filter->memory, filter->places * sizeof *peeling->alone);
    peeling->stack = lab_peer_allocate(filter->memory, filter->count * sizeof *peeling->stack + 1);
    peeling->numbers = lab_peer_allocate(filter->memory, filter->count + 1);
    return peeling->keys && peeling->owners && peeling->alone && peeling->stack && peeling->numbers;
}

/* False if a place has more keys than its counter can tell, which takes another seed. */
static bool enter_keys(const lab_fuse *filter, peeling *peeling)
{
    memset(peeling->keys, 0, filter->places * sizeof *peeling->keys);
    memset(peeling->owners, 0, filter->places);
    for (uint64_t i = 0; i < filter->count; i++) {
        spread spread = spread_of(filter, filter->keys[i]);
        for (unsigned number = 0; number < filter->arity; number++) {
            uint64_t place = place_of(filter, spread, number);
            if (peeling->owners[place] >= 252)
                return false;
            peeling->owners[place] = (unsigned char)((peeling->owners[place] + 4) ^ number);
            peeling->keys[place] ^= filter->keys[i];
        }
    }
    return true;
}

static inline bool is_alone(const peeling *peeling, uint64_t place)
{
    return peeling->owners[place] >> 2 == 1;
}

/* How many keys found a place of their own. */
static uint64_t peel(const lab_fuse *filter, peeling *peeling)
{
    uint64_t waiting = 0, done = 0;
    for (uint64_t place = 0; place < filter->places; place++)
        if (is_alone(peeling, place))
            peeling->alone[waiting++] = (uint32_t)place;
    while (waiting > 0) {
        uint64_t own = peeling->alone[--waiting], key = peeling->keys[own];
        if (!is_alone(peeling, own))
            continue;
        peeling->stack[done] = key;
        peeling->numbers[done++] = peeling->owners[own] & 3;
        spread spread = spread_of(filter, key);
        for (unsigned number = 0; number < filter->arity; number++) {
            uint64_t place = place_of(filter, spread, number);
            peeling->owners[place] = (unsigned char)((peeling->owners[place] - 4) ^ number);
            peeling->keys[place] ^= key;
            if (is_alone(peeling, place))
                peeling->alone[waiting++] = (uint32_t)place;
        }
    }
    return done;
}

static void assign(lab_fuse *filter, const peeling *peeling)
{
    for (uint64_t i = filter->count; i-- > 0;) {
        spread spread = spread_of(filter, peeling->stack[i]);
        uint64_t tag = tag_of(filter, spread);
        for (unsigned number = 0; number < filter->arity; number++)
            tag ^= get(filter, place_of(filter, spread, number));
        set(filter, place_of(filter, spread, peeling->numbers[i]), tag);
    }
}

static int build(lab_fuse *filter, peeling *peeling)
{
    for (unsigned tries = 0; tries < TRIES; tries++) {
        filter->seed = lab_mix(tries + 1);
        if (enter_keys(filter, peeling) && peel(filter, peeling) == filter->count) {
            assign(filter, peeling);
            return VIDI_OK;
        }
    }
    return lab_fail(VIDI_EARGUMENT, "no seed gives every key a place of its own: are there equal keys?");
}

int lab_fuse_freeze(lab_fuse *filter)
{
    peeling peeling = {0};
    if (!filter->keys)
        return lab_fail(VIDI_ECANNOT, "the binary fuse filter is built already");
    set_sizes(filter);
    filter->bytes = lab_peer_allocate(filter->memory, filter->size);
    int code =
        make_peeling(filter, &peeling) && filter->bytes
            ? build(filter, &peeling)
            : lab_fail(VIDI_EMEMORY, "no memory to build a filter of %llu keys", (unsigned long long)filter->count);
    free_peeling(filter, &peeling);
    if (code == VIDI_OK)
        forget_keys(filter);
    return code;
}

/* ---- lookups ---- */

int64_t lab_fuse_has(const lab_fuse *filter, lab_peer_keys keys, bool *seen)
{
    int64_t found = 0;
    if (!filter->bytes)
        return lab_fail(VIDI_ECANNOT, "the binary fuse filter is not built yet");
    for (size_t i = 0; i < keys.count; i++) {
        if (i + LAB_PEER_AHEAD < keys.count) {
            spread ahead = spread_of(filter, lab_peer_key(&keys, i + LAB_PEER_AHEAD));
            for (unsigned number = 0; number < filter->arity; number++)
                __builtin_prefetch(filter->bytes + place_of(filter, ahead, number) * filter->bits / 8);
        }
        spread spread = spread_of(filter, lab_peer_key(&keys, i));
        uint64_t tag = tag_of(filter, spread);
        for (unsigned number = 0; number < filter->arity; number++)
            tag ^= get(filter, place_of(filter, spread, number));
        if (seen)
            seen[i] = tag == 0;
        found += tag == 0;
    }
    return found;
}
