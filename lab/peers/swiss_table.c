/*
 * A hash set of 64-bit hashes with the design of absl's Swiss tables (Benzaquen, Kulukundis and others, "Swiss Tables",
 * abseil.io, 2018): an open-addressing table with one control byte for each slot.
 *
 *   control byte:  0hhhhhhh  the slot is taken, and h are the lowest 7 bits of its hash
 *                  10000000  empty             11111110  deleted: lookups go on
 *
 *   group:  16 control bytes, which are compared all at once with SSE2, and elsewhere one after the other
 *
 * The other bits of the hash choose the first group; further ones follow at growing distances, until a group has an
 * empty slot. The table doubles before more than 7/8 of its slots are taken or deleted; while it grows, both tables
 * are in memory. It never loses anything except what two keys with equal 64-bit hashes lose.
 *
 * It differs from absl's in that groups begin at multiples of 16 slots, not anywhere.
 */
#include <string.h>

#include "lab/engine/lab.h"
#include "lab/peers/peer_filters.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

enum { GROUP = 16, EMPTY = 0x80, DELETED = 0xfe, TAG_BITS = 7 };

struct lab_swiss {
    unsigned char *control; /* [slots] */
    uint64_t *words;        /* [slots] */
    uint64_t groups;        /* a power of two */
    uint64_t left;          /* empty slots that may still be taken */
    const vidi_allocator *memory;
};

/* ---- the table ---- */

static uint64_t slots_of(const lab_swiss *table)
{
    return table->groups * GROUP;
}

static uint64_t most_of(uint64_t slots)
{
    return slots / 8 * 7;
}

static void release(lab_swiss *table)
{
    lab_peer_release(table->memory, table->control, slots_of(table));
    lab_peer_release(table->memory, table->words, slots_of(table) * sizeof *table->words);
}

static int allocate(lab_swiss *table, uint64_t groups)
{
    table->groups = groups;
    table->control = lab_peer_allocate(table->memory, slots_of(table));
    table->words = lab_peer_allocate(table->memory, slots_of(table) * sizeof *table->words);
    table->left = most_of(slots_of(table));
    if (!table->control || !table->words) {
        release(table);
        table->control = NULL;
        table->words = NULL;
        return lab_fail(VIDI_EMEMORY, "no memory for %llu slots", (unsigned long long)slots_of(table));
    }
    memset(table->control, EMPTY, slots_of(table));
    return VIDI_OK;
}

int lab_swiss_make(lab_swiss **made, uint64_t keys, const vidi_allocator *memory)
{
    uint64_t groups = 1;
    *made = NULL;
    while (most_of(groups * GROUP) < keys)
        groups *= 2;
    lab_swiss *table = lab_peer_allocate(memory, sizeof *table);
    if (!table)
        return lab_fail(VIDI_EMEMORY, "no memory for a hash set");
    table->memory = memory;
    int code = allocate(table, groups);
    if (code < 0)
        lab_swiss_free(table);
    else
        *made = table;
    return code;
}

void lab_swiss_free(lab_swiss *table)
{
    if (!table)
        return;
    release(table);
    lab_peer_release(table->memory, table, sizeof *table);
}

uint64_t lab_swiss_slots(const lab_swiss *table)
{
    return slots_of(table);
}

uint64_t lab_swiss_bytes(const lab_swiss *table)
{
    return slots_of(table) * (1 + sizeof *table->words);
}

/* ---- groups ---- */

typedef uint32_t group_bits; /* bit i stands for slot i */

#if defined(__SSE2__)

static inline group_bits slots_with(const unsigned char *control, unsigned char byte)
{
    __m128i group = _mm_load_si128((const __m128i *)(const void *)control);
    return (group_bits)_mm_movemask_epi8(_mm_cmpeq_epi8(group, _mm_set1_epi8((char)byte)));
}

/* Slots that are empty or deleted. */
static inline group_bits slots_free(const unsigned char *control)
{
    return (group_bits)_mm_movemask_epi8(_mm_load_si128((const __m128i *)(const void *)control));
}
#else
static inline group_bits slots_with(const unsigned char *control, unsigned char byte)
{
    group_bits found = 0;
    for (unsigned i = 0; i < GROUP; i++)
        found |= (group_bits)(control[i] == byte) << i;
    return found;
}

static inline group_bits slots_free(const unsigned char *control)
{
    group_bits found = 0;
    for (unsigned i = 0; i < GROUP; i++)
        found |= (group_bits)(control[i] >> 7) << i;
    return found;
}
#endif

static inline unsigned char tag_of(uint64_t word)
{
    return word & ((1u << TAG_BITS) - 1);
}

static inline uint64_t first_group(const lab_swiss *table, uint64_t word)
{
    return word >> TAG_BITS & (table->groups - 1);
}

/* ---- one key ---- */

#define NOWHERE UINT64_MAX

/* The slot of the key, or NOWHERE. */
static inline uint64_t find(const lab_swiss *table, uint64_t word)
{
    uint64_t group = first_group(table, word);
    for (uint64_t distance = 1;; distance++) {
        const unsigned char *control = table->control + group * GROUP;
        for (group_bits found = slots_with(control, tag_of(word)); found; found &= found - 1) {
            uint64_t slot = group * GROUP + (unsigned)__builtin_ctz(found);
            if (table->words[slot] == word)
                return slot;
        }
        if (slots_with(control, EMPTY))
            return NOWHERE;
        group = (group + distance) & (table->groups - 1);
    }
}

/* Puts a key that is not there into the first free slot on its way. */
static inline void put(lab_swiss *table, uint64_t word)
{
    uint64_t group = first_group(table, word);
    for (uint64_t distance = 1;; distance++) {
        unsigned char *control = table->control + group * GROUP;
        group_bits found = slots_free(control);
        if (found) {
            unsigned slot = (unsigned)__builtin_ctz(found);
            table->left -= control[slot] == EMPTY;
            control[slot] = tag_of(word);
            table->words[group * GROUP + slot] = word;
            return;
        }
        group = (group + distance) & (table->groups - 1);
    }
}

/* Doubles the table, which also clears deleted slots. */
static int grow(lab_swiss *table)
{
    lab_swiss larger = *table;
    uint64_t word;
    LAB_TRY(allocate(&larger, table->groups * 2));
    for (uint64_t at = 0; lab_swiss_next(table, &at, &word);)
        put(&larger, word);
    release(table);
    *table = larger;
    return VIDI_OK;
}

/* ---- batches ---- */

static inline void prefetch(const lab_swiss *table, uint64_t word)
{
    uint64_t slot = first_group(table, word) * GROUP;
    __builtin_prefetch(table->control + slot);
    __builtin_prefetch(table->words + slot); /* the first half of the group, which fills first */
}

int64_t lab_swiss_add(lab_swiss *table, lab_peer_keys keys, bool *seen)
{
    int64_t known = 0;
    for (size_t i = 0; i < keys.count; i++) {
        if (i + LAB_PEER_AHEAD < keys.count)
            prefetch(table, lab_peer_key(&keys, i + LAB_PEER_AHEAD));
        uint64_t word = lab_peer_key(&keys, i);
        bool there = find(table, word) != NOWHERE;
        if (!there && table->left == 0)
            LAB_TRY(grow(table));
        if (!there)
            put(table, word);
        if (seen)
            seen[i] = there;
        known += there;
    }
    return known;
}

int64_t lab_swiss_has(const lab_swiss *table, lab_peer_keys keys, bool *seen)
{
    int64_t known = 0;
    for (size_t i = 0; i < keys.count; i++) {
        if (i + LAB_PEER_AHEAD < keys.count)
            prefetch(table, lab_peer_key(&keys, i + LAB_PEER_AHEAD));
        bool there = find(table, lab_peer_key(&keys, i)) != NOWHERE;
        if (seen)
            seen[i] = there;
        known += there;
    }
    return known;
}

/* A slot can become empty again if its group has another empty one, because then no lookup goes on from this group. */
int64_t lab_swiss_remove(lab_swiss *table, lab_peer_keys keys)
{
    int64_t known = 0;
    for (size_t i = 0; i < keys.count; i++) {
        uint64_t slot = find(table, lab_peer_key(&keys, i));
        if (slot == NOWHERE)
            continue;
        bool last = slots_with(table->control + slot / GROUP * GROUP, EMPTY) != 0;
        table->control[slot] = last ? EMPTY : DELETED;
        table->left += last;
        known++;
    }
    return known;
}

bool lab_swiss_next(const lab_swiss *table, uint64_t *at, uint64_t *word)
{
    while (*at < slots_of(table) && table->control[*at] & EMPTY)
        ++*at;
    if (*at == slots_of(table))
        return false;
    *word = table->words[(*at)++];
    return true;
}
