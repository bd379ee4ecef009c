/*
 * Which hosts the fetcher has, and which of their blocks: see storage.h. The fetcher asks for more URLs of a host
 * before it runs out of them; the storage thread hands out blocks, and drops each when all of its URLs have an outcome.
 * Hosts that the fetcher does not have are found by going around the frontier's hosts in the order of their ids.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/base/url_parts.h"
#include "crawler/crawl/storage/storage.h"

enum {
    FIRST_WANT = FRONTIER_BLOCK,
    LONG_WAIT = 10 * 60 * 1000, /* milliseconds; a host that wants to be left alone for longer is parked */
    ROOM_EVERY = 1000           /* milliseconds between two requests to make room */
};

static frontier *frontier_of(const storage *of)
{
    return db_frontier(of->crawl->db);
}

host_entry *host_table_find(const storage *of, uint64_t host)
{
    return id_map_get(&of->hosts, host);
}

/* ---- members ---- */

static int host_entry_add(storage *of, uint64_t id, host_entry **made)
{
    size_t count = of->hosts.count;

    if (count == of->list_room) {
        size_t room = count ? count * 2 : 64;
        host_entry **more = realloc(of->list, room * sizeof *more);
        if (!more)
            return VIDI_EMEMORY;
        of->list = more;
        of->list_room = room;
    }
    host_entry *host = calloc(1, sizeof *host);
    if (!host || id_map_put(&of->hosts, id, host) != VIDI_OK) {
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

static void host_entry_free(host_entry *host)
{
    free(host->blocks);
    free(host->origin);
    free(host);
}

/* The fetcher has forgotten the host, and nothing of it is on its way. Its blocks stay in the frontier. */
static void host_entry_forget(storage *of, host_entry *host)
{
    size_t last = of->hosts.count - 1;

    of->out -= host->out;
    if (host->out > 0)
        of->filter_until = of->crawl->committed_to;
    of->strangers = true;
    of->list[host->at] = of->list[last];
    of->list[host->at]->at = host->at;
    id_map_remove(&of->hosts, host->id);
    host_entry_free(host);
}

/* ---- blocks ---- */

static int block_note(host_entry *host, const frontier_block *block, size_t left)
{
    if (host->block_count == host->block_room) {
        size_t room = host->block_room ? host->block_room * 2 : 4;
        handed_block *more = realloc(host->blocks, room * sizeof *more);
        if (!more)
            return VIDI_EMEMORY;
        host->blocks = more;
        host->block_room = room;
    }
    host->blocks[host->block_count++] = (handed_block){block->number, block->level, (uint32_t)left};
    return VIDI_OK;
}

int host_table_settle(storage *of, const fetch_job *done)
{
    host_entry *host = host_table_find(of, done->url.host);

    if (!host)
        return VIDI_OK;
    for (size_t i = 0; i < host->block_count; i++) {
        handed_block *block = &host->blocks[i];
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

static void leave_if_over(storage *of, host_entry *host)
{
    if (host->leaving && host->out == host->returned)
        host_entry_forget(of, host);
}

void host_table_done(storage *of, const fetch_job *done)
{
    host_entry *host = host_table_find(of, done->url.host);

    if (!host)
        return;
    host->out--;
    of->out--;
    leave_if_over(of, host);
}

void host_table_appended(storage *of, uint64_t host)
{
    host_entry *known = host_table_find(of, host);

    if (known && !known->leaving) {
        known->fresh = true;
        of->sort_helps = of->sort_helps || known->wanted > 0;
    } else if (of->hosts.count < CRAWL_HOSTS) {
        of->sort_helps = true;
    }
}

int host_table_leave(storage *of, const host_request *left)
{
    host_entry *host = host_table_find(of, left->host);

    if (!host)
        return VIDI_OK;
    host->leaving = true;
    host->wanted = 0;
    host->returned += left->count; /* more may come back: what was on its way when the host left */
    leave_if_over(of, host);
    return VIDI_OK;
}

int host_table_park(storage *of, uint64_t host)
{
    if (id_map_get(&of->parked, host))
        return VIDI_OK;
    of->crawl->parked++;
    return id_map_put(&of->parked, host, of);
}

int host_table_defer(storage *of, uint64_t host, int64_t until)
{
    return id_map_put(&of->later, host, (void *)(uintptr_t)until);
}

/* While there is little room, hosts that have to wait do so outside. */
static bool is_deferred(const storage *of, uint64_t host)
{
    if (of->hosts.count < CRAWL_HOSTS - CRAWL_HOSTS / 4)
        return false;
    return (int64_t)(uintptr_t)id_map_get(&of->later, host) > crawl_date(of->crawl);
}

void host_table_sorted(storage *of)
{
    of->strangers = true;
    of->sort_helps = frontier_unsorted(frontier_of(of)) > 0;
}

/* ---- handing out ---- */

/* Leaves out what is dealt with already: of blocks that an earlier run, or a host that has left, did not finish. */
static int filter_block(storage *of, frontier_block *block)
{
    size_t kept = 0;

    if (block->count == 0 || block->urls[0].id > of->filter_until)
        return VIDI_OK;
    for (size_t i = 0; i < block->count; i++) {
        int done = db_is_done(of->crawl->db, block->urls[i].id);
        if (done < 0)
            return done;
        if (!done)
            block->urls[kept++] = block->urls[i];
    }
    block->count = kept;
    return VIDI_OK;
}

static url_block *url_block_make(const frontier_block *block)
{
    url_block *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->message.kind = MESSAGE_URL_BLOCK;
    made->host = block->host;
    made->number = block->number;
    made->level = block->level;
    made->count = block->count;
    made->urls = malloc(block->count * sizeof *made->urls);
    size_t total = 0;
    for (size_t i = 0; i < block->count; i++)
        total += block->urls[i].url.len;
    if (!made->urls || bytes_reserve(&made->text, total) != VIDI_OK) {
        message_free(&made->message);
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

static int hand_out(storage *of, host_entry *host, frontier_block *block)
{
    int error = filter_block(of, block);

    if (error)
        return error;
    if (block->count == 0)
        return batch_drop_block(of, block->host, block->level, block->number);
    url_block *made = url_block_make(block);
    if (!made || block_note(host, block, block->count) != VIDI_OK) {
        message_free(made ? &made->message : NULL);
        return VIDI_EMEMORY;
    }
    host->out += block->count;
    of->out += block->count;
    host->wanted -= host->wanted < block->count ? host->wanted : block->count;
    messages_add(&of->to_fetcher, &made->message);
    return VIDI_OK;
}

/* Gives a host the URLs that it wants, as far as there are any on this level. */
static int serve(storage *of, host_entry *host)
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

int host_table_want(storage *of, const host_request *wanted)
{
    host_entry *host = host_table_find(of, wanted->host);

    if (!host || host->leaving)
        return VIDI_OK;
    host->wanted = wanted->count;
    int error = serve(of, host);
    if (host->wanted > 0 && host->fresh)
        of->sort_helps = true;
    return error;
}

/* ---- hosts that the fetcher does not have ---- */

static int read_row(storage *of, host_entry *host, host_info *to)
{
    db_host row = {0};
    int error = db_host_read(of->crawl->db, host->id, &row);

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
static int note_origin(storage *of, host_entry *host)
{
    url_parts parts;

    if (host->origin || of->block.host != host->id || of->block.count == 0 || !url_split(of->block.urls[0].url, &parts))
        return VIDI_OK;
    host->origin = strndup(parts.origin.ptr, parts.origin.len);
    return host->origin ? VIDI_OK : VIDI_EMEMORY;
}

static int admit(storage *of, uint64_t id)
{
    host_entry *host;
    host_info *known = calloc(1, sizeof *known);
    int error = known ? host_entry_add(of, id, &host) : VIDI_EMEMORY;

    if (error) {
        free(known);
        return error;
    }
    known->message.kind = MESSAGE_HOST_INFO;
    known->host = id;
    error = read_row(of, host, known);
    if (error == VIDI_OK && known->not_before - crawl_date(of->crawl) > LONG_WAIT) {
        message_free(&known->message);
        host_entry_forget(of, host);
        return host_table_park(of, id);
    }
    messages_add(&of->to_fetcher, &known->message);
    if (error == VIDI_OK)
        error = serve(of, host);
    if (error == VIDI_OK)
        error = note_origin(of, host);
    if (error == VIDI_OK && host->origin)
        error = bytes_append_format(&known->origin, "%s/", host->origin);
    return error;
}

/* The next host on this level that can be fetched from, at or after `from`; members count only if asked for. */
static int next_host(storage *of, uint32_t level, bool hosts, uint64_t from, uint64_t *found)
{
    for (;;) {
        int error = frontier_host(frontier_of(of), level, from, found);
        if (error)
            return error;
        bool fits = hosts || (!host_table_find(of, *found) && !is_deferred(of, *found));
        if (fits && !id_map_get(&of->parked, *found))
            return VIDI_OK;
        if (*found == UINT64_MAX >> 1)
            return VIDI_EABSENT;
        from = *found + 1;
    }
}

static int admit_strangers(storage *of)
{
    uint64_t found;
    bool around = of->cursor == 0;

    while (of->strangers && of->hosts.count < CRAWL_HOSTS) {
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

/* Other hosts are waiting: asks the fetcher to give some back. */
static int ask_for_room(storage *of)
{
    int64_t now = storage_now();

    if (!of->strangers || of->hosts.count < CRAWL_HOSTS || now - of->room_asked < ROOM_EVERY)
        return VIDI_OK;
    host_request *room = calloc(1, sizeof *room);
    if (!room)
        return VIDI_EMEMORY;
    of->room_asked = now;
    room->message.kind = MESSAGE_MAKE_ROOM;
    messages_add(&of->to_fetcher, &room->message);
    return VIDI_OK;
}

int host_table_feed(storage *of)
{
    bool all_sorted = frontier_unsorted(frontier_of(of)) == 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < of->hosts.count && error == VIDI_OK; i++) {
        host_entry *host = of->list[i];
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

static int begin_level(storage *of, uint32_t level)
{
    if (level != of->level)
        for (size_t i = 0; i < of->hosts.count; i++)
            of->list[i]->after = 0;
    for (size_t i = 0; i < of->hosts.count; i++)
        of->list[i]->fresh = true;
    of->level = level;
    of->cursor = 0;
    of->strangers = true;
    return host_table_feed(of);
}

int host_table_is_done(storage *of, bool *done)
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

void host_table_free(storage *of)
{
    for (size_t i = 0; i < of->hosts.count; i++)
        host_entry_free(of->list[i]);
    free(of->list);
    id_map_free(&of->hosts);
    id_map_free(&of->parked);
    id_map_free(&of->later);
    bytes_free(&of->block.text);
}
