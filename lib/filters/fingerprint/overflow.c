/* See overflow.h. */
#include "filters/fingerprint/overflow.h"

#define EMPTY VIDI__OVERFLOW_EMPTY
/*
 * The farthest that an entry may be from its home. Chance never comes near this limit, so a file that exceeds it was
 * forged to make lookups slow.
 */
#define PROBES_MAX 4096

static uint64_t entry(const vidi__overflow *overflow, uint64_t at)
{
    return *vidi__overflow_at(overflow->entries, at);
}

static uint64_t next(const vidi__overflow *overflow, uint64_t at)
{
    return at + 1 == overflow->room ? 0 : at + 1;
}

/*
 * Position of the hash, or of the free entry where it would be inserted. A table of our own always has a free entry.
 * One over borrowed memory may not; then the result is an arbitrary entry.
 */
static uint64_t find(const vidi__overflow *overflow, uint64_t hash)
{
    uint64_t at = vidi__overflow_home(overflow, hash), left = overflow->room;
    if (VIDI__LIKELY(overflow->room <= VIDI__OVERFLOW_BLOCK)) { /* of all but the largest sub-tables */
        const uint64_t *block = overflow->entries[0];
        while (block[at] != hash && block[at] != EMPTY && --left)
            at = next(overflow, at);
        return at;
    }
    for (uint64_t there; there = entry(overflow, at), there != hash && there != EMPTY && --left;)
        at = next(overflow, at);
    return at;
}

uint64_t vidi__overflow_times(const vidi__overflow *overflow, uint64_t hash)
{
    if (!overflow->used)
        return 0;
    uint64_t at = find(overflow, hash);
    if (entry(overflow, at) != hash)
        return 0;
    return overflow->times ? *vidi__overflow_at(overflow->times, at) : 1;
}

static void set(vidi__overflow *overflow, uint64_t at, uint64_t hash, uint64_t times)
{
    *vidi__overflow_at(overflow->entries, at) = hash;
    if (overflow->times)
        *vidi__overflow_at(overflow->times, at) = times;
}

static uint64_t bytes_of(const vidi__overflow *overflow)
{
    return overflow->room * sizeof(uint64_t);
}

void vidi__overflow_free(vidi__overflow *overflow, vidi__slabs *slabs)
{
    if (!overflow->inside)
        vidi__slabs_array_free(slabs, overflow->entries, bytes_of(overflow));
    vidi__slabs_array_free(slabs, overflow->times, bytes_of(overflow));
    *overflow = (vidi__overflow){0};
}

uint64_t vidi__overflow_bytes(const vidi__overflow *overflow)
{
    if (overflow->inside)
        return 0;
    return vidi__slabs_array_bytes(bytes_of(overflow)) * (overflow->times ? 2 : 1);
}

/* Creates an empty table. */
static int make(vidi__overflow *overflow, vidi__slabs *slabs, bool multiset, uint64_t room)
{
    *overflow = (vidi__overflow){.room = room};
    int code = vidi__slabs_array(slabs, &overflow->entries, bytes_of(overflow));
    if (code == VIDI_OK && multiset)
        code = vidi__slabs_array(slabs, &overflow->times, bytes_of(overflow));
    if (code < 0) {
        vidi__overflow_free(overflow, slabs);
        return code;
    }
    for (uint64_t at = 0; at < room; at += VIDI__OVERFLOW_BLOCK) {
        uint64_t count = room - at < VIDI__OVERFLOW_BLOCK ? room - at : VIDI__OVERFLOW_BLOCK;
        memset(vidi__overflow_at(overflow->entries, at), 0xff, count * sizeof(uint64_t));
    }
    return VIDI_OK;
}

void vidi__overflow_place(vidi__overflow *overflow, uint64_t **entries, uint64_t room)
{
    *overflow = (vidi__overflow){.room = room, .entries = entries, .inside = true};
    memset(entries[0], 0xff, room * sizeof(uint64_t));
}

int vidi__overflow_resize(vidi__overflow *overflow, vidi__slabs *slabs, bool multiset, uint64_t room)
{
    vidi__overflow other;
    VIDI__TRY(make(&other, slabs, multiset, room));
    for (uint64_t at = EMPTY, left; vidi__overflow_each(overflow, &at, &left);) {
        uint64_t hash = entry(overflow, at);
        set(&other, find(&other, hash), hash, overflow->times ? *vidi__overflow_at(overflow->times, at) : 1);
    }
    other.used = overflow->used;
    vidi__overflow_free(overflow, slabs);
    *overflow = other;
    return VIDI_OK;
}

int vidi__overflow_copy(vidi__overflow *copy, const vidi__overflow *overflow, vidi__slabs *slabs)
{
    if (copy->room != overflow->room) {
        vidi__overflow_free(copy, slabs);
        VIDI__TRY(make(copy, slabs, false, overflow->room));
    }
    for (uint64_t at = 0; at < overflow->room; at++)
        *vidi__overflow_at(copy->entries, at) = entry(overflow, at);
    copy->used = overflow->used;
    return VIDI_OK;
}

int vidi__overflow_insert(vidi__overflow *overflow, vidi__slabs *slabs, bool multiset, uint64_t hash, uint64_t times,
                          bool *fresh)
{
    if (vidi__overflow_is_full(overflow))
        VIDI__TRY(vidi__overflow_resize(overflow, slabs, multiset, overflow->room + overflow->room / 4 + 8));
    uint64_t at = find(overflow, hash);
    *fresh = entry(overflow, at) == EMPTY;
    if (*fresh) {
        set(overflow, at, hash, times);
        overflow->used++;
    } else if (overflow->times) {
        *vidi__overflow_at(overflow->times, at) += times;
    }
    return VIDI_OK;
}

/* Number of probes that lead from one entry to another, wrapping around. */
static uint64_t probes(const vidi__overflow *overflow, uint64_t from, uint64_t to)
{
    return to >= from ? to - from : to + overflow->room - from;
}

/* Closes the gap, so that every hash stays reachable from its home. */
static void close_gap(vidi__overflow *overflow, uint64_t gap)
{
    for (uint64_t at = next(overflow, gap), hash; (hash = entry(overflow, at)) != EMPTY; at = next(overflow, at)) {
        if (probes(overflow, vidi__overflow_home(overflow, hash), at) < probes(overflow, gap, at))
            continue;
        set(overflow, gap, hash, overflow->times ? *vidi__overflow_at(overflow->times, at) : 1);
        gap = at;
    }
    set(overflow, gap, EMPTY, 0);
}

bool vidi__overflow_remove(vidi__overflow *overflow, uint64_t hash, bool *last)
{
    *last = false;
    if (!overflow->used)
        return false;
    uint64_t at = find(overflow, hash);
    if (entry(overflow, at) == EMPTY)
        return false;
    if (overflow->times && --*vidi__overflow_at(overflow->times, at))
        return true;
    close_gap(overflow, at);
    overflow->used--;
    *last = true;
    return true;
}

bool vidi__overflow_each(const vidi__overflow *overflow, uint64_t *at, uint64_t *left)
{
    if (*at == EMPTY) {
        *left = overflow->used ? overflow->room : 0;
        for (*at = 0; *at + 1 < *left && entry(overflow, *at) != EMPTY;)
            ++*at;
    }
    while (*left) {
        --*left;
        *at = next(overflow, *at);
        if (entry(overflow, *at) != EMPTY)
            return true;
    }
    return false;
}

/* ---- saving and loading ---- */

static uint64_t entries_in_block(const vidi__overflow *overflow, uint64_t at)
{
    return overflow->room - at < VIDI__OVERFLOW_BLOCK ? overflow->room - at : VIDI__OVERFLOW_BLOCK;
}

/* Writes 0 for free entries, whose times were never written to memory. */
static int save_times(const vidi__overflow *overflow, uint64_t from, vidi__writer *writer)
{
    uint64_t times[VIDI__OVERFLOW_BLOCK], count = entries_in_block(overflow, from);
    for (uint64_t i = 0; i < count; i++)
        times[i] = entry(overflow, from + i) == EMPTY ? 0 : *vidi__overflow_at(overflow->times, from + i);
    return vidi__write_words(writer, times, count);
}

int vidi__overflow_save(const vidi__overflow *overflow, vidi__writer *writer)
{
    for (uint64_t at = 0; at < overflow->room; at += VIDI__OVERFLOW_BLOCK)
        VIDI__TRY(vidi__write_words(writer, vidi__overflow_at(overflow->entries, at), entries_in_block(overflow, at)));
    for (uint64_t at = 0; at < overflow->room && overflow->times; at += VIDI__OVERFLOW_BLOCK)
        VIDI__TRY(save_times(overflow, at, writer));
    return VIDI_OK;
}

static int load_array(const vidi__overflow *overflow, uint64_t ***blocks, vidi__slabs *slabs, vidi__reader *reader)
{
    const void *lent;
    if (bytes_of(overflow) > reader->left)
        return vidi__damaged("an overflow table is larger than the data");
    if (vidi__lends(reader)) {
        VIDI__TRY(vidi__lend(reader, bytes_of(overflow), &lent));
        return vidi__slabs_array_over(slabs, blocks, lent, bytes_of(overflow));
    }
    VIDI__TRY(vidi__slabs_array(slabs, blocks, bytes_of(overflow)));
    for (uint64_t at = 0; at < overflow->room; at += VIDI__OVERFLOW_BLOCK)
        VIDI__TRY(
            vidi__read(reader, vidi__overflow_at(*blocks, at), entries_in_block(overflow, at) * sizeof(uint64_t)));
    return VIDI_OK;
}

int vidi__overflow_load(vidi__overflow *overflow, vidi__slabs *slabs, bool multiset, vidi__reader *reader)
{
    VIDI__TRY(load_array(overflow, &overflow->entries, slabs, reader));
    return multiset ? load_array(overflow, &overflow->times, slabs, reader) : VIDI_OK;
}

int vidi__overflow_verify(const vidi__overflow *overflow, uint64_t range)
{
    uint64_t used = 0;
    for (uint64_t at = 0; at < overflow->room; at++) {
        uint64_t hash = entry(overflow, at);
        if (hash == EMPTY)
            continue;
        used++;
        if (hash >= range || (overflow->times && !*vidi__overflow_at(overflow->times, at)))
            return vidi__damaged("an overflowed hash is out of range");
        if (probes(overflow, vidi__overflow_home(overflow, hash), at) > PROBES_MAX || find(overflow, hash) != at)
            return vidi__damaged("an overflowed hash is stored twice or in the wrong place");
    }
    return used == overflow->used ? VIDI_OK : vidi__damaged("the number of overflowed hashes is wrong");
}
