/* See spill.h. */
#include "filters/fingerprint/overflow.h"

#define EMPTY VIDI__SPILL_EMPTY
/*
 * Entries from where a hash is looked for to where it is: chance never comes near, so who does wants us to walk for
 * ever.
 */
#define AWAY_MOST 4096

static uint64_t entry(const vidi__spill *spill, uint64_t at)
{
    return *vidi__spill_at(spill->entries, at);
}

static uint64_t next(const vidi__spill *spill, uint64_t at)
{
    return at + 1 == spill->room ? 0 : at + 1;
}

/*
 * Where the hash is, or the free entry where it would go. There is always a free one, but in a table that was lent:
 * there it may come to any entry.
 */
static uint64_t find(const vidi__spill *spill, uint64_t hash)
{
    uint64_t at = vidi__spill_home(spill, hash), left = spill->room;
    for (uint64_t there; there = entry(spill, at), there != hash && there != EMPTY && --left;)
        at = next(spill, at);
    return at;
}

uint64_t vidi__spill_times(const vidi__spill *spill, uint64_t hash)
{
    if (!spill->used)
        return 0;
    uint64_t at = find(spill, hash);
    if (entry(spill, at) != hash)
        return 0;
    return spill->times ? *vidi__spill_at(spill->times, at) : 1;
}

static void set(vidi__spill *spill, uint64_t at, uint64_t hash, uint64_t times)
{
    *vidi__spill_at(spill->entries, at) = hash;
    if (spill->times)
        *vidi__spill_at(spill->times, at) = times;
}

static uint64_t bytes_of(const vidi__spill *spill)
{
    return spill->room * sizeof(uint64_t);
}

void vidi__spill_free(vidi__spill *spill, vidi__chunks *chunks)
{
    vidi__chunks_array_free(chunks, spill->entries, bytes_of(spill));
    vidi__chunks_array_free(chunks, spill->times, bytes_of(spill));
    *spill = (vidi__spill){0};
}

uint64_t vidi__spill_bytes(const vidi__spill *spill)
{
    return vidi__chunks_array_bytes(bytes_of(spill)) * (spill->times ? 2 : 1);
}

/* An empty one. */
static int make(vidi__spill *spill, vidi__chunks *chunks, bool multiset, uint64_t room)
{
    *spill = (vidi__spill){.room = room};
    int code = vidi__chunks_array(chunks, &spill->entries, bytes_of(spill));
    if (code == VIDI_OK && multiset)
        code = vidi__chunks_array(chunks, &spill->times, bytes_of(spill));
    if (code < 0) {
        vidi__spill_free(spill, chunks);
        return code;
    }
    for (uint64_t at = 0; at < room; at += VIDI__SPILL_BLOCK) {
        uint64_t count = room - at < VIDI__SPILL_BLOCK ? room - at : VIDI__SPILL_BLOCK;
        memset(vidi__spill_at(spill->entries, at), 0xff, count * sizeof(uint64_t));
    }
    return VIDI_OK;
}

int vidi__spill_resize(vidi__spill *spill, vidi__chunks *chunks, bool multiset, uint64_t room)
{
    vidi__spill other;
    VIDI__TRY(make(&other, chunks, multiset, room));
    for (uint64_t at = EMPTY, left; vidi__spill_each(spill, &at, &left);) {
        uint64_t hash = entry(spill, at);
        set(&other, find(&other, hash), hash, spill->times ? *vidi__spill_at(spill->times, at) : 1);
    }
    other.used = spill->used;
    vidi__spill_free(spill, chunks);
    *spill = other;
    return VIDI_OK;
}

int vidi__spill_put(vidi__spill *spill, vidi__chunks *chunks, bool multiset, uint64_t hash, uint64_t times, bool *fresh)
{
    if (5 * (spill->used + 1) > 4 * spill->room)
        VIDI__TRY(vidi__spill_resize(spill, chunks, multiset, spill->room + spill->room / 4 + 8));
    uint64_t at = find(spill, hash);
    *fresh = entry(spill, at) == EMPTY;
    if (*fresh) {
        set(spill, at, hash, times);
        spill->used++;
    } else if (spill->times) {
        *vidi__spill_at(spill->times, at) += times;
    }
    return VIDI_OK;
}

/* Steps from one entry on to another, around the end. */
static uint64_t steps(const vidi__spill *spill, uint64_t from, uint64_t to)
{
    return to >= from ? to - from : to + spill->room - from;
}

/* Closes the gap, so that every hash is still reached from where its search begins. */
static void close_gap(vidi__spill *spill, uint64_t gap)
{
    for (uint64_t at = next(spill, gap), hash; (hash = entry(spill, at)) != EMPTY; at = next(spill, at)) {
        if (steps(spill, vidi__spill_home(spill, hash), at) < steps(spill, gap, at))
            continue;
        set(spill, gap, hash, spill->times ? *vidi__spill_at(spill->times, at) : 1);
        gap = at;
    }
    set(spill, gap, EMPTY, 0);
}

bool vidi__spill_take(vidi__spill *spill, uint64_t hash, bool *last)
{
    *last = false;
    if (!spill->used)
        return false;
    uint64_t at = find(spill, hash);
    if (entry(spill, at) == EMPTY)
        return false;
    if (spill->times && --*vidi__spill_at(spill->times, at))
        return true;
    close_gap(spill, at);
    spill->used--;
    *last = true;
    return true;
}

bool vidi__spill_each(const vidi__spill *spill, uint64_t *at, uint64_t *left)
{
    if (*at == EMPTY) {
        *left = spill->used ? spill->room : 0;
        for (*at = 0; *at + 1 < *left && entry(spill, *at) != EMPTY;)
            ++*at;
    }
    while (*left) {
        --*left;
        *at = next(spill, *at);
        if (entry(spill, *at) != EMPTY)
            return true;
    }
    return false;
}

/* ---- streams ---- */

static uint64_t entries_in_block(const vidi__spill *spill, uint64_t at)
{
    return spill->room - at < VIDI__SPILL_BLOCK ? spill->room - at : VIDI__SPILL_BLOCK;
}

/* Where there is no entry, what is in memory was never written. */
static int save_times(const vidi__spill *spill, uint64_t from, vidi__writer *writer)
{
    uint64_t times[VIDI__SPILL_BLOCK], count = entries_in_block(spill, from);
    for (uint64_t i = 0; i < count; i++)
        times[i] = entry(spill, from + i) == EMPTY ? 0 : *vidi__spill_at(spill->times, from + i);
    return vidi__write_words(writer, times, count);
}

int vidi__spill_save(const vidi__spill *spill, vidi__writer *writer)
{
    for (uint64_t at = 0; at < spill->room; at += VIDI__SPILL_BLOCK)
        VIDI__TRY(vidi__write_words(writer, vidi__spill_at(spill->entries, at), entries_in_block(spill, at)));
    for (uint64_t at = 0; at < spill->room && spill->times; at += VIDI__SPILL_BLOCK)
        VIDI__TRY(save_times(spill, at, writer));
    return VIDI_OK;
}

static int load_array(const vidi__spill *spill, uint64_t ***blocks, vidi__chunks *chunks, vidi__reader *reader)
{
    const void *lent;
    if (bytes_of(spill) > reader->left)
        return vidi__damaged("there is room for more spilled hashes than there is data");
    if (vidi__lends(reader)) {
        VIDI__TRY(vidi__lend(reader, bytes_of(spill), &lent));
        return vidi__chunks_array_over(chunks, blocks, lent, bytes_of(spill));
    }
    VIDI__TRY(vidi__chunks_array(chunks, blocks, bytes_of(spill)));
    for (uint64_t at = 0; at < spill->room; at += VIDI__SPILL_BLOCK)
        VIDI__TRY(vidi__read(reader, vidi__spill_at(*blocks, at), entries_in_block(spill, at) * sizeof(uint64_t)));
    return VIDI_OK;
}

int vidi__spill_load(vidi__spill *spill, vidi__chunks *chunks, bool multiset, vidi__reader *reader)
{
    VIDI__TRY(load_array(spill, &spill->entries, chunks, reader));
    return multiset ? load_array(spill, &spill->times, chunks, reader) : VIDI_OK;
}

int vidi__spill_verify(const vidi__spill *spill, uint64_t range)
{
    uint64_t used = 0;
    for (uint64_t at = 0; at < spill->room; at++) {
        uint64_t hash = entry(spill, at);
        if (hash == EMPTY)
            continue;
        used++;
        if (hash >= range || (spill->times && !*vidi__spill_at(spill->times, at)))
            return vidi__damaged("a spilled hash is out of range");
        if (steps(spill, vidi__spill_home(spill, hash), at) > AWAY_MOST || find(spill, hash) != at)
            return vidi__damaged("a spilled hash is there twice, or where it is not looked for");
    }
    return used == spill->used ? VIDI_OK : vidi__damaged("the number of spilled hashes is wrong");
}
