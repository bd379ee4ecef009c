/*
 * Links on their way to streams: see parcels.h.
 *
 * The script appends entries and makes sure that the registry of lives has the one whose stream it is, in one step. So
 * there is no stream that the registry does not know, even if its member is gone and was buried: then it is buried once
 * more.
 */
#include "fleet/links/parcels.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS_AT_ONCE = 16 };

/* Keys: stream, lives. Arguments: life, limit, entries. -1: the stream is too long. */
static const char append_script[] = "local limit = tonumber(ARGV[2])\n"
                                    "if limit > 0 and redis.call('XLEN', KEYS[1]) >= limit then return -1 end\n"
                                    "for i = 3, #ARGV do redis.call('XADD', KEYS[1], '*', 'l', ARGV[i]) end\n"
                                    "redis.call('HSETNX', KEYS[2], ARGV[1], '')\n"
                                    "return #ARGV - 2";

/* ---- packing ---- */

static parcel *last_for(const parcels *all, const char *life)
{
    for (size_t i = all->count; i > 0; i--)
        if (strcmp(all->list[i - 1]->life, life) == 0)
            return all->list[i - 1];
    return NULL;
}

static size_t begin_of(const parcel *one, size_t entry)
{
    return entry == 0 ? 0 : one->ends[entry - 1];
}

static vidi_str holder_of(const parcel *one)
{
    entry_reader reader;
    size_t begin = begin_of(one, one->count - 1);

    entry_open(&reader, (vidi_str){one->text.ptr + begin, one->text.len - begin});
    return reader.holder;
}

static bool same(vidi_str a, vidi_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static parcel *add_parcel(parcels *all, const char *life)
{
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 16;
        parcel **list = realloc(all->list, room * sizeof *list);
        if (!list)
            return NULL;
        all->list = list;
        all->room = room;
    }
    parcel *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    memcpy(made->life, life, strnlen(life, sizeof made->life - 1));
    all->list[all->count++] = made;
    return made;
}

/* The parcel whose last entry takes the link, with that entry begun. */
static int open_entry(parcels *all, const char *life, vidi_str holder, parcel **found)
{
    parcel *one = last_for(all, life);
    bool fits = one && one->text.len - begin_of(one, one->count - 1) < ENTRY_BYTES && same(holder_of(one), holder);

    if (!one || (!fits && one->count == PARCEL_ENTRIES)) {
        one = add_parcel(all, life);
        fits = false;
    }
    if (!one)
        return VIDI_EMEMORY;
    *found = one;
    if (fits)
        return VIDI_OK;
    int error = entry_begin(&one->text, holder);
    if (error == VIDI_OK)
        one->ends[one->count++] = one->text.len;
    return error;
}

static int note_tag(parcel *one, size_t tag)
{
    if (one->tag_count == one->tag_room) {
        size_t room = one->tag_room ? 2 * one->tag_room : 64;
        size_t *tags = realloc(one->tags, room * sizeof *tags);
        if (!tags)
            return VIDI_EMEMORY;
        one->tags = tags;
        one->tag_room = room;
    }
    one->tags[one->tag_count++] = tag;
    return VIDI_OK;
}

int parcels_add(parcels *all, const char *life, vidi_str holder, vidi_str url, vidi_str payload, size_t tag)
{
    parcel *one = NULL;
    int error = open_entry(all, life, holder, &one);

    if (error == VIDI_OK)
        error = note_tag(one, tag);
    if (error == VIDI_OK)
        error = entry_add(&one->text, url, payload);
    if (error == VIDI_OK)
        one->ends[one->count - 1] = one->text.len;
    return error;
}

/* ---- sending ---- */

static int make_call(parcel *one, const wire *wire, uint64_t limit, redis_call *call)
{
    command *c = &one->command;

    wire_stream(wire, one->life, one->key);
    command_script(c, append_script, 2);
    command_text(c, one->key);
    command_text(c, wire->lives);
    command_text(c, one->life);
    command_number(c, limit);
    for (size_t i = 0; i < one->count; i++) {
        size_t begin = begin_of(one, i);
        command_bytes(c, (vidi_str){one->text.ptr + begin, one->ends[i] - begin});
    }
    *call = wire_call(wire, c, WIRE_WRITES);
    return c->overflow ? VIDI_EARGUMENT : VIDI_OK;
}

static int send_some(parcels *all, size_t from, size_t count, wire *wire, uint64_t limit)
{
    redis_call calls[CALLS_AT_ONCE];
    int error = VIDI_OK;

    for (size_t i = 0; i < count && error == VIDI_OK; i++)
        error = make_call(all->list[from + i], wire, limit, &calls[i]);
    if (error == VIDI_OK)
        error = wire_run(wire, calls, count);
    for (size_t i = 0; i < count && error == VIDI_OK; i++) {
        if (calls[i].reply->type != REDIS_INTEGER)
            return wire_failed(wire, VIDI_EIO, "the server's reply to an append is not a number");
        all->list[from + i]->refused = calls[i].reply->integer < 0;
    }
    return error;
}

int parcels_send(parcels *all, fleet *fleet, wire *wire, uint64_t limit, size_t *refused)
{
    size_t links = 0, full = 0;
    int error = VIDI_OK;

    for (size_t from = 0; from < all->count && error == VIDI_OK; from += CALLS_AT_ONCE) {
        size_t left = all->count - from, count = left < CALLS_AT_ONCE ? left : CALLS_AT_ONCE;
        error = send_some(all, from, count, wire, limit);
    }
    for (size_t i = 0; i < all->count && error == VIDI_OK; i++) {
        full += all->list[i]->refused;
        links += all->list[i]->refused ? 0 : all->list[i]->tag_count;
    }
    atomic_fetch_add(&fleet->counts.sent, links);
    if (refused)
        *refused = full;
    return error;
}

void parcels_free(parcels *all)
{
    for (size_t i = 0; i < all->count; i++) {
        bytes_free(&all->list[i]->text);
        free(all->list[i]->tags);
        free(all->list[i]);
    }
    free(all->list);
    *all = (parcels){0};
}
