/*
 * Which hosts the spider has, and which of their blocks: see keeper.h. The spider asks for more URLs of a host before
 * it runs out of them; the keeper hands out blocks, and drops each when all of its URLs have an outcome. Hosts that the
 * spider does not have are found by going around the frontier's hosts in the order of their ids.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/base/url_parts.h"
#include "crawler/crawl/keeper.h"

enum {
    FIRST_WANT = FRONTIER_BLOCK,
    LONG_WAIT = 10 * 60 * 1000, /* milliseconds; a host that wants to be left alone for longer is parked */
    ROOM_EVERY = 1000           /* milliseconds between two requests to make room */
};

static frontier *frontier_of(const keeper *of)
{
    return ledger_frontier(of->crawl->ledger);
}

member *roster_find(const keeper *of, uint64_t host)
{
    return id_map_get(&of->members, host);
}

/* ---- members ---- */

static int member_add(keeper *of, uint64_t id, member **made)
{
    size_t count = of->members.count;

    if (count == of->list_room) {
        size_t room = count ? count * 2 : 64;
        member **more = realloc(of->list, room * sizeof *more);
        if (!more)
            return VIDI_EMEMORY;
        of->list = more;
        of->list_room = room;
    }
    member *host = calloc(1, sizeof *host);
    if (!host || id_map_put(&of->members, id, host) != VIDI_OK) {
        free(host);
        return VIDI_EMEMORY;
    }
    host->id = id;
    host->at = count;
    host->wanted = FIRST_WANT;
    of->list[count] = host;
    *made = host;
    return VIDI_OK;
}

static void member_free(member *host)
{
    free(host->blocks);
    free(host->origin);
    free(host);
}

/* The spider has forgotten the host, and nothing of it is on its way. Its blocks stay in the frontier. */
static void member_forget(keeper *of, member *host)
{
    size_t last = of->members.count - 1;

    of->out -= host->out;
    if (host->out > 0)
        of->filter_until = of->crawl->committed_to;
    of->strangers = true;
    of->list[host->at] = of->list[last];
    of->list[host->at]->at = host->at;
    id_map_remove(&of->members, host->id);
    member_free(host);
}

/* ---- blocks ---- */

static int block_note(member *host, const frontier_block *block, size_t left)
{
    if (host->block_count == host->block_room) {
        size_t room = host->block_room ? host->block_room * 2 : 4;
        roster_block *more = realloc(host->blocks, room * sizeof *more);
        if (!more)
            return VIDI_EMEMORY;
        host->blocks = more;
        host->block_room = room;
    }
    host->blocks[host->block_count++] = (roster_block){block->number, block->level, (uint32_t)left};
    return VIDI_OK;
}

int roster_settle(keeper *of, const errand *done)
{
    member *host = roster_find(of, done->url.host);

    if (!host)
        return VIDI_OK;
    for (size_t i = 0; i < host->block_count; i++) {
        roster_block *block = &host->blocks[i];
        if (block->number != done->block || block->level != done->level)
            continue;
        if (--block->left > 0)
            return VIDI_OK;
        int error = batch_drop_block(of, host->id, block->level, block->number);
        *block = host->blocks[--host->block_count];
        return error;
    }
    return VIDI_OK;
}

static void leave_if_over(keeper *of, member *host)
{
    if (host->leaving && host->out == host->returned)
        member_forget(of, host);
}

void roster_done(keeper *of, const errand *done)
{
    member *host = roster_find(of, done->url.host);

    if (!host)
        return;
    host->out--;
    of->out--;
    leave_if_over(of, host);
}

void roster_appended(keeper *of, uint64_t host)
{
    member *known = roster_find(of, host);

    if (known && !known->leaving) {
        known->fresh = true;
        of->sort_helps = of->sort_helps || known->wanted > 0;
    } else if (of->members.count < CRAWL_HOSTS) {
        of->sort_helps = true;
    }
}

int roster_leave(keeper *of, const request *left)
{
    member *host = roster_find(of, left->host);

    if (!host)
        return VIDI_OK;
    host->leaving = true;
    host->wanted = 0;
    host->returned += left->count; /* more may come back: what was on its way when the host left */
    leave_if_over(of, host);
    return VIDI_OK;
}

int roster_park(keeper *of, uint64_t host)
{
    if (id_map_get(&of->parked, host))
        return VIDI_OK;
    of->crawl->parked++;
    return id_map_put(&of->parked, host, of);
}

int roster_defer(keeper *of, uint64_t host, int64_t until)
{
    return id_map_put(&of->later, host, (void *)(uintptr_t)until);
}

/* While there is little room, hosts that have to wait do so outside. */
static bool is_deferred(const keeper *of, uint64_t host)
{
    if (of->members.count < CRAWL_HOSTS - CRAWL_HOSTS / 4)
        return false;
    return (int64_t)(uintptr_t)id_map_get(&of->later, host) > crawl_date(of->crawl);
}

void roster_sorted(keeper *of)
{
    of->strangers = true;
    of->sort_helps = frontier_unsorted(frontier_of(of)) > 0;
}

/* ---- handing out ---- */

/* Leaves out what is dealt with already: of blocks that an earlier run, or a host that has left, did not finish. */
static int filter_block(keeper *of, frontier_block *block)
{
    size_t kept = 0;

    if (block->count == 0 || block->urls[0].id > of->filter_until)
        return VIDI_OK;
    for (size_t i = 0; i < block->count; i++) {
        int done = ledger_is_done(of->crawl->ledger, block->urls[i].id);
        if (done < 0)
            return done;
        if (!done)
            block->urls[kept++] = block->urls[i];
    }
    block->count = kept;
    return VIDI_OK;
}

static load *load_make(const frontier_block *block)
{
    load *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->parcel.kind = PARCEL_LOAD;
    made->host = block->host;
    made->number = block->number;
    made->level = block->level;
    made->count = block->count;
    made->urls = malloc(block->count * sizeof *made->urls);
    size_t total = 0;
    for (size_t i = 0; i < block->count; i++)
        total += block->urls[i].url.len;
    if (!made->urls || bytes_reserve(&made->text, total) != VIDI_OK) {
        parcel_free(&made->parcel);
        return NULL;
    }
    for (size_t i = 0; i < block->count; i++) {
        made->urls[i] = block->urls[i];
        made->urls[i].url.ptr = made->text.ptr + made->text.len;
        if (bytes_append_str(&made->text, block->urls[i].url) != VIDI_OK) /* there is room */
            break;
    }
    return made;
}

static int hand_out(keeper *of, member *host, frontier_block *block)
{
    int error = filter_block(of, block);

    if (error)
        return error;
    if (block->count == 0)
        return batch_drop_block(of, block->host, block->level, block->number);
    load *made = load_make(block);
    if (!made || block_note(host, block, block->count) != VIDI_OK) {
        parcel_free(made ? &made->parcel : NULL);
        return VIDI_EMEMORY;
    }
    host->out += block->count;
    of->out += block->count;
    host->wanted -= host->wanted < block->count ? host->wanted : block->count;
    parcels_add(&of->to_spider, &made->parcel);
    return VIDI_OK;
}

/* Gives a host the URLs that it wants, as far as there are any on this level. */
static int serve(keeper *of, member *host)
{
    while (host->wanted > 0) {
        int error = frontier_take(frontier_of(of), of->level, host->id, host->after, &of->block);
        if (error == VIDI_EABSENT)
            return VIDI_OK;
        if (error == VIDI_OK) {
            host->after = of->block.number;
            error = hand_out(of, host, &of->block);
        }
        if (error)
            return error;
    }
    return VIDI_OK;
}

int roster_want(keeper *of, const request *wanted)
{
    member *host = roster_find(of, wanted->host);

    if (!host || host->leaving)
        return VIDI_OK;
    host->wanted = wanted->count;
    int error = serve(of, host);
    if (host->wanted > 0 && host->fresh)
        of->sort_helps = true;
    return error;
}

/* ---- hosts that the spider does not have ---- */

static int read_row(keeper *of, member *host, card *to)
{
    ledger_host row = {0};
    int error = ledger_host_read(of->crawl->ledger, host->id, &row);

    to->robots_outcome = -1;
    if (error == VIDI_EABSENT)
        return VIDI_OK;
    if (error)
        return error;
    host->has_row = true;
    host->unparked = row.parked != NULL;
    host->pages = to->pages = row.pages;
    host->origin = strndup(row.origin.ptr, row.origin.len);
    to->not_before = row.not_before;
    to->robots_outcome = row.robots_outcome;
    to->robots_date = row.robots_date;
    to->robots_reached = row.robots_reached;
    return host->origin ? bytes_append_str(&to->robots, row.robots) : VIDI_EMEMORY;
}

/* The origin of a host that has no row yet, from a URL of its first block. */
static int note_origin(keeper *of, member *host)
{
    url_parts parts;

    if (host->origin || of->block.host != host->id || of->block.count == 0 || !url_split(of->block.urls[0].url, &parts))
        return VIDI_OK;
    host->origin = strndup(parts.origin.ptr, parts.origin.len);
    return host->origin ? VIDI_OK : VIDI_EMEMORY;
}

static int admit(keeper *of, uint64_t id)
{
    member *host;
    card *known = calloc(1, sizeof *known);
    int error = known ? member_add(of, id, &host) : VIDI_EMEMORY;

    if (error) {
        free(known);
        return error;
    }
    known->parcel.kind = PARCEL_CARD;
    known->host = id;
    error = read_row(of, host, known);
    if (error == VIDI_OK && known->not_before - crawl_date(of->crawl) > LONG_WAIT) {
        parcel_free(&known->parcel);
        member_forget(of, host);
        return roster_park(of, id);
    }
    parcels_add(&of->to_spider, &known->parcel);
    if (error == VIDI_OK)
        error = serve(of, host);
    if (error == VIDI_OK)
        error = note_origin(of, host);
    if (error == VIDI_OK && host->origin)
        error = bytes_append_format(&known->origin, "%s/", host->origin);
    return error;
}

/* The next host on this level that can be fetched from, at or after `from`; members count only if asked for. */
static int next_host(keeper *of, uint32_t level, bool members, uint64_t from, uint64_t *found)
{
    for (;;) {
        int error = frontier_host(frontier_of(of), level, from, found);
        if (error)
            return error;
        bool fits = members || (!roster_find(of, *found) && !is_deferred(of, *found));
        if (fits && !id_map_get(&of->parked, *found))
            return VIDI_OK;
        if (*found == UINT64_MAX >> 1)
            return VIDI_EABSENT;
        from = *found + 1;
    }
}

static int admit_strangers(keeper *of)
{
    uint64_t found;
    bool around = of->cursor == 0;

    while (of->strangers && of->members.count < CRAWL_HOSTS) {
        int error = next_host(of, of->level, false, of->cursor, &found);
        if (error == VIDI_OK) {
            of->cursor = found + 1;
            error = admit(of, found);
        } else if (error == VIDI_EABSENT) {
            of->strangers = !around;
            of->cursor = 0;
            around = true;
            error = VIDI_OK;
        }
        if (error)
            return error;
    }
    return VIDI_OK;
}

/* Other hosts are waiting: asks the spider to give some back. */
static int ask_for_room(keeper *of)
{
    int64_t now = keeper_now();

    if (!of->strangers || of->members.count < CRAWL_HOSTS || now - of->room_asked < ROOM_EVERY)
        return VIDI_OK;
    request *room = calloc(1, sizeof *room);
    if (!room)
        return VIDI_EMEMORY;
    of->room_asked = now;
    room->parcel.kind = PARCEL_ROOM;
    parcels_add(&of->to_spider, &room->parcel);
    return VIDI_OK;
}

int roster_feed(keeper *of)
{
    bool all_sorted = frontier_unsorted(frontier_of(of)) == 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < of->members.count && error == VIDI_OK; i++) {
        member *host = of->list[i];
        if (host->fresh && host->wanted > 0)
            error = serve(of, host);
        if (all_sorted && host->wanted > 0)
            host->fresh = false;
    }
    if (error == VIDI_OK)
        error = admit_strangers(of);
    return error ? error : ask_for_room(of);
}

/* ---- levels ---- */

static int begin_level(keeper *of, uint32_t level)
{
    if (level != of->level)
        for (size_t i = 0; i < of->members.count; i++)
            of->list[i]->after = 0;
    for (size_t i = 0; i < of->members.count; i++)
        of->list[i]->fresh = true;
    of->level = level;
    of->cursor = 0;
    of->strangers = true;
    return roster_feed(of);
}

int roster_is_done(keeper *of, bool *done)
{
    uint32_t level;
    uint64_t found;

    *done = false;
    if (of->out > 0 || !batch_is_empty(&of->batch))
        return VIDI_OK;
    if (frontier_unsorted(frontier_of(of)) > 0) { /* found on the last pages of hosts that had left by then */
        of->sort_helps = true;
        return VIDI_OK;
    }
    int error = frontier_level(frontier_of(of), &level);
    while (error == VIDI_OK) {
        error = next_host(of, level, true, 0, &found);
        if (error == VIDI_OK)
            return begin_level(of, level);
        if (error == VIDI_EABSENT)
            error = frontier_next_level(frontier_of(of), level, &level);
    }
    *done = error == VIDI_EABSENT;
    return *done ? VIDI_OK : error;
}

void roster_free(keeper *of)
{
    for (size_t i = 0; i < of->members.count; i++)
        member_free(of->list[i]);
    free(of->list);
    id_map_free(&of->members);
    id_map_free(&of->parked);
    id_map_free(&of->later);
    bytes_free(&of->block.text);
}
