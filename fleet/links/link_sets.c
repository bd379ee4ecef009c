/*
 * Sets of hashes: see link_sets.h. The second one is open addressing with linear probing; removing moves later ones of
 * the run back, so that no marks of removed ones are left.
 */
#include "fleet/links/link_sets.h"

#include <stdlib.h>
#include <string.h>

#include "vidi/vidi.h"

enum { FIRST_ROOM = 64 };

/* 0 means an empty place. */
static uint64_t mark_of(uint64_t hash)
{
    return hash ? hash : 1;
}

int sent_cache_make(sent_cache *cache, unsigned bits)
{
    cache->places = calloc((size_t)1 << bits, sizeof *cache->places);
    cache->mask = ((size_t)1 << bits) - 1;
    return cache->places ? VIDI_OK : VIDI_EMEMORY;
}

void sent_cache_free(sent_cache *cache)
{
    free(cache->places);
    *cache = (sent_cache){0};
}

bool sent_cache_add(sent_cache *cache, uint64_t hash)
{
    uint64_t *place = &cache->places[hash & cache->mask];

    if (*place == mark_of(hash))
        return false;
    *place = mark_of(hash);
    return true;
}

void sent_cache_remove(sent_cache *cache, uint64_t hash)
{
    uint64_t *place = &cache->places[hash & cache->mask];

    if (*place == mark_of(hash))
        *place = 0;
}

void sent_cache_clear(sent_cache *cache)
{
    memset(cache->places, 0, (cache->mask + 1) * sizeof *cache->places);
}

/* ---- in hand ---- */

/* Where the hash is, or the empty place where it belongs. There is always an empty one. */
static size_t place_of(const hand_set *set, uint64_t hash)
{
    uint64_t mark = mark_of(hash);
    size_t at = mark & (set->room - 1);

    while (set->places[at] && set->places[at] != mark)
        at = (at + 1) & (set->room - 1);
    return at;
}

static int grow(hand_set *set)
{
    hand_set larger = {.room = set->room ? 2 * set->room : FIRST_ROOM, .count = set->count};

    larger.places = calloc(larger.room, sizeof *larger.places);
    if (!larger.places)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < set->room; i++)
        if (set->places[i])
            larger.places[place_of(&larger, set->places[i])] = set->places[i];
    free(set->places);
    *set = larger;
    return VIDI_OK;
}

bool hand_set_has(const hand_set *set, uint64_t hash)
{
    return set->room > 0 && set->places[place_of(set, hash)];
}

int hand_set_add(hand_set *set, uint64_t hash)
{
    if (hand_set_has(set, hash))
        return VIDI_EEXIST;
    if (2 * (set->count + 1) > set->room && grow(set) != VIDI_OK)
        return VIDI_EMEMORY;
    set->places[place_of(set, hash)] = mark_of(hash);
    set->count++;
    return VIDI_OK;
}

void hand_set_remove(hand_set *set, uint64_t hash)
{
    size_t mask = set->room - 1;

    if (!hand_set_has(set, hash))
        return;
    size_t gap = place_of(set, hash);
    for (size_t at = (gap + 1) & mask; set->places[at]; at = (at + 1) & mask) {
        size_t home = set->places[at] & mask;
        if (((at - home) & mask) < ((at - gap) & mask)) /* it is nearer to its home than the gap is */
            continue;
        set->places[gap] = set->places[at];
        gap = at;
    }
    set->places[gap] = 0;
    set->count--;
}

void hand_set_free(hand_set *set)
{
    free(set->places);
    *set = (hand_set){0};
}
