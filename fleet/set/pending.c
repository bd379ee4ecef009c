/*
 * The queue of claims, and its index. See pending.h.
 *
 * The index is a table with linear probing. Nothing is taken out of it: a number whose entry is gone or dealt with stays
 * until the table is built anew, which happens when it is half full, or empty again.
 */
#include "pending.h"

#include <stdlib.h>
#include <string.h>

#include "vidi/vidi.h"

enum { ROOM_LEAST = 1024, ROOM_KEPT = 65536 };

static pending_entry *entry_of(const pending *pending, uint64_t slot)
{
    uint64_t number = slot - 1;
    if (number < pending->begin)
        return NULL;
    pending_entry *entry = pending_at(pending, number);
    return pending_is_open(entry) ? entry : NULL;
}

static void put(pending *pending, const uint64_t hash[2], uint64_t number)
{
    size_t at = hash[0] & (pending->slots - 1);
    while (pending->index[at])
        at = (at + 1) & (pending->slots - 1);
    pending->index[at] = number + 1;
    pending->used++;
}

/* Builds the index anew, for so many entries in all. */
static int build(pending *pending, size_t entries)
{
    size_t slots = 2 * ROOM_LEAST;
    while (slots / 4 < entries)
        if (__builtin_mul_overflow(slots, (size_t)2, &slots))
            return VIDI_EMEMORY;
    if (slots != pending->slots) {
        uint64_t *index = calloc(slots, sizeof *index);
        if (!index)
            return VIDI_EMEMORY;
        free(pending->index);
        pending->index = index;
        pending->slots = slots;
    } else {
        memset(pending->index, 0, slots * sizeof *pending->index);
    }
    pending->used = 0;
    for (size_t i = pending->first; i < pending->end; i++)
        if (pending_is_open(&pending->entries[i]))
            put(pending, pending->entries[i].hash, pending->begin + (i - pending->first));
    return VIDI_OK;
}

/* Room behind the last entry: what lies before the first is used again when that is half of all. */
static int make_room(pending *pending, size_t more)
{
    size_t count = pending->end - pending->first, room = pending->room ? pending->room : ROOM_LEAST, needed;
    if (more <= pending->room - pending->end)
        return VIDI_OK;
    if (__builtin_add_overflow(count, more, &needed) || needed > SIZE_MAX / 4 / sizeof *pending->entries)
        return VIDI_EMEMORY;
    while (room / 2 < needed)
        room *= 2;
    if (room > pending->room) {
        pending_entry *entries = malloc(room * sizeof *entries);
        if (!entries)
            return VIDI_EMEMORY;
        if (count)
            memcpy(entries, pending->entries + pending->first, count * sizeof *entries);
        free(pending->entries);
        pending->entries = entries;
        pending->room = room;
    } else {
        memmove(pending->entries, pending->entries + pending->first, count * sizeof *pending->entries);
    }
    pending->first = 0;
    pending->end = count;
    return VIDI_OK;
}

int pending_reserve(pending *pending, size_t more)
{
    int code = make_room(pending, more);
    if (code == VIDI_OK && (more > pending->slots / 2 || pending->used > pending->slots / 2 - more))
        code = build(pending, pending->end - pending->first + more);
    return code;
}

pending_entry *pending_find(const pending *pending, const uint64_t hash[2])
{
    if (!pending->used)
        return NULL;
    for (size_t at = hash[0] & (pending->slots - 1); pending->index[at]; at = (at + 1) & (pending->slots - 1)) {
        pending_entry *entry = entry_of(pending, pending->index[at]);
        if (entry && entry->hash[0] == hash[0] && entry->hash[1] == hash[1])
            return entry;
    }
    return NULL;
}

void pending_add(pending *pending, const uint64_t hash[2], const claim_token *token)
{
    put(pending, hash, pending_mark(pending));
    pending->entries[pending->end++] = (pending_entry){{hash[0], hash[1]}, *token};
}

/* There is no entry: the memory is kept, unless it is much. */
static void clear(pending *pending)
{
    uint64_t begin = pending->begin;
    if (pending->room > ROOM_KEPT || pending->slots > ROOM_KEPT)
        pending_free(pending);
    if (pending->used)
        memset(pending->index, 0, pending->slots * sizeof *pending->index);
    pending->first = pending->end = pending->used = 0;
    pending->begin = begin;
}

void pending_trim(pending *pending)
{
    while (!pending_is_empty(pending) && !pending_is_open(&pending->entries[pending->first])) {
        pending->first++;
        pending->begin++;
    }
    if (pending_is_empty(pending))
        clear(pending);
}

void pending_free(pending *pending)
{
    free(pending->entries);
    free(pending->index);
    *pending = (struct pending){0};
}
