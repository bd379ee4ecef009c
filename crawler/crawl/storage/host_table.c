/*
 * Which hosts the fetcher has, and which of their blocks: see storage.h. The fetcher asks for more URLs of a host
 * before it runs out of them; the storage thread hands out blocks, and drops each when all of its URLs have an outcome.
 * Hosts that the fetcher does not have are found by going around the frontier's hosts in the order of their ids.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/base/list.h"
#include "crawler/base/web_url.h"
#include "crawler/crawl/storage/storage.h"

enum {
    FIRST_WANT = FRONTIER_BLOCK,
    LONG_WAIT = 10 * 60 * 1000, /* milliseconds; a host that wants to be left alone for longer is parked */
    ROOM_EVERY = 1000           /* milliseconds between two requests to make room */
};

static frontier *frontier_of(const storage *storage)
{
    return db_frontier(storage->crawl->db);
}

host_entry *host_table_find(const storage *storage, uint64_t host)
{
    return id_map_get(&storage->hosts, host);
}

/* ---- hosts that the fetcher has ---- */

static int host_entry_add(storage *storage, uint64_t id, host_entry **made)
{
    size_t count = storage->hosts.count;

    if (list_reserve(&storage->list, &storage->list_room, count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    host_entry *host = calloc(1, sizeof *host);
    if (!host || id_map_put(&storage->hosts, id, host) != VIDI_OK) {
        free(host);
        return VIDI_EMEMORY;
    }
    host->id = id;
    host->at = count;
    host->wanted = FIRST_WANT;
    storage->list[count] = host;
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
static void host_entry_forget(storage *storage, host_entry *host)
{
    size_t last = storage->hosts.count - 1;

    storage->out -= host->out;
    if (host->out > 0)
        storage->filter_until = storage->crawl->committed_to;
    if (storage->crawl->fleet)
        shared_host_forgotten(storage, host);
    storage->more_hosts = true;
    storage->list[host->at] = storage->list[last];
    storage->list[host->at]->at = host->at;
    id_map_remove(&storage->hosts, host->id);
    host_entry_free(host);
}

/* ---- blocks ---- */

static int block_note(host_entry *host, const frontier_block *block, size_t left)
{
    if (list_reserve(&host->blocks, &host->block_room, host->block_count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    host->blocks[host->block_count++] = (handed_block){block->number, block->level, (uint32_t)left};
    return VIDI_OK;
}

int host_table_settle(storage *storage, const fetch_job *done)
{
    host_entry *host = host_table_find(storage, done->url.host);

    if (!host)
        return VIDI_OK;
    for (size_t i = 0; i < host->block_count; i++) {
        handed_block *block = &host->blocks[i];
        if (block->number != done->block || block->level != done->level)
            continue;
        if (--block->left > 0)
            return VIDI_OK;
        int error = batch_drop_block(storage, host->id, block->level, block->number);
        *block = host->blocks[--host->block_count];
        return error;
    }
    return VIDI_OK;
}

static void leave_if_over(storage *storage, host_entry *host)
{
    if (host->leaving && host->out == host->returned)
        host_entry_forget(storage, host);
}

void host_table_done(storage *storage, const fetch_job *done)
{
    host_entry *host = host_table_find(storage, done->url.host);

    if (!host)
        return;
    host->out--;
    storage->out--;
    leave_if_over(storage, host);
}

void host_table_appended(storage *storage, uint64_t host)
{
    host_entry *known = host_table_find(storage, host);

    if (known && !known->leaving) {
        known->fresh = true;
        storage->sort_helps = storage->sort_helps || known->wanted > 0;
    } else if (storage->hosts.count < CRAWL_HOSTS) {
        storage->sort_helps = true;
    }
}

int host_table_leave(storage *storage, const host_request *left)
{
    host_entry *host = host_table_find(storage, left->host);
    int error = storage->crawl->fleet ? shared_put_back(storage, bytes_str(&left->urls)) : VIDI_OK;

    if (!host || error)
        return error;
    if (storage->crawl->fleet)
        shared_host_left(storage, host);
    host->leaving = true;
    host->wanted = 0;
    host->returned += left->count; /* more may come back: what was on its way when the host left */
    leave_if_over(storage, host);
    return VIDI_OK;
}

int host_table_park(storage *storage, uint64_t host)
{
    if (id_map_get(&storage->parked, host))
        return VIDI_OK;
    storage->crawl->parked++;
    continuous_park(storage, host);
    return id_map_put(&storage->parked, host, storage);
}

int host_table_defer(storage *storage, uint64_t host, int64_t until)
{
    return id_map_put(&storage->later, host, (void *)(uintptr_t)until);
}

/* While there is little room in memory, hosts that have to wait are not loaded. */
static bool is_deferred(const storage *storage, uint64_t host)
{
    if (storage->hosts.count < CRAWL_HOSTS - CRAWL_HOSTS / 4)
        return false;
    return (int64_t)(uintptr_t)id_map_get(&storage->later, host) > crawl_date(storage->crawl);
}

void host_table_sorted(storage *storage)
{
    storage->more_hosts = true;
    storage->sort_helps = frontier_unsorted(frontier_of(storage)) > 0;
}

/* Hosts that the fetcher has look at all of their blocks again. */
void host_table_released(storage *storage)
{
    storage->more_hosts = true;
    for (size_t i = 0; i < storage->hosts.count; i++) {
        storage->list[i]->after = 0;
        storage->list[i]->fresh = true;
    }
}

/* ---- handing out ---- */

int host_table_filter(storage *storage, frontier_block *block)
{
    size_t kept = 0;

    if (block->count == 0 || block->urls[0].id > storage->filter_until)
        return VIDI_OK;
    for (size_t i = 0; i < block->count; i++) {
        int done = db_is_done(storage->crawl->db, block->urls[i].id);
        if (done < 0)
            return done;
        if (!done)
            block->urls[kept++] = block->urls[i];
    }
    block->count = kept;
    return VIDI_OK;
}

static bool find_record(const struct db_place *from, archive_at *to)
{
    to->offset = from->offset;
    return archive_number(from->file, &to->file);
}

/* NULL: no memory. */
static known_page *known_page_make(const db_validators *from)
{
    known_page *made = malloc(sizeof *made + from->etag.len + from->modified.len + 2);

    if (!made)
        return NULL;
    char *etag = (char *)(made + 1), *modified = etag + from->etag.len + 1;
    memcpy(etag, from->etag.ptr ? from->etag.ptr : "", from->etag.len);
    memcpy(modified, from->modified.ptr ? from->modified.ptr : "", from->modified.len);
    etag[from->etag.len] = modified[from->modified.len] = 0;
    *made = (known_page){
        .row = from->row, .body = from->body, .etag = *etag ? etag : NULL, .modified = *modified ? modified : NULL};
    if (!find_record(&from->head_at, &made->head_at) || !find_record(&from->body_at, &made->body_at))
        made->etag = made->modified = NULL;
    return made;
}

/* Adds what is known of each page, if pages may be asked whether they have changed. */
static int add_known(storage *storage, url_block *to)
{
    crawl *c = storage->crawl;
    db_validators found;

    if (c->visit.number < 2 || !c->archive || atomic_load(&c->distrusts_archive))
        return VIDI_OK;
    to->known = calloc(to->count, sizeof(known_page *));
    int error = to->known ? VIDI_OK : VIDI_EMEMORY;
    for (size_t i = 0; i < to->count && error == VIDI_OK; i++) {
        if (to->urls[i].kind == FRONTIER_OUTSIDE)
            continue;
        error = db_validators_read(c->db, to->urls[i].id, &found);
        if (error == VIDI_OK && !(to->known[i] = known_page_make(&found)))
            error = VIDI_EMEMORY;
        error = error == VIDI_EABSENT ? VIDI_OK : error;
    }
    return error;
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

/* Sends the URLs of the block to the fetcher. */
static int send_block(storage *storage, host_entry *host, const frontier_block *block)
{
    url_block *made = url_block_make(block);
    int error = made ? add_known(storage, made) : VIDI_EMEMORY;

    for (size_t i = 0; error == VIDI_OK && storage->crawl->options.order == CRAWL_SITEMAP && i < made->count; i++)
        error = frontier_is_listed(frontier_of(storage), &made->urls[i], &made->urls[i].is_listed);
    if (error) {
        message_free(made ? &made->message : NULL);
        return error;
    }
    host->wanted -= host->wanted < block->count ? host->wanted : block->count;
    messages_add(&storage->to_fetcher, &made->message);
    return VIDI_OK;
}

static int hand_out(storage *storage, host_entry *host, frontier_block *block)
{
    int error = host_table_filter(storage, block);
    size_t count = block->count;

    if (error)
        return error;
    if (count == 0)
        return batch_drop_block(storage, block->host, block->level, block->number);
    error = block_note(host, block, count);
    if (error)
        return error;
    host->out += count;
    storage->out += count;
    if (storage->crawl->fleet) /* URLs that are left out have an outcome in the batch */
        error = shared_check(storage, block);
    return error || block->count == 0 ? error : send_block(storage, host, block);
}

static bool has_block(const host_entry *host, const frontier_block *block)
{
    for (size_t i = 0; i < host->block_count; i++)
        if (host->blocks[i].number == block->number && host->blocks[i].level == block->level)
            return true;
    return false;
}

/* The next block of a host, in the order of the crawl: `after` is the number of the one before. */
static int take_block(storage *storage, const host_entry *host, uint64_t after)
{
    if (storage->crawl->options.order != CRAWL_DEPTH)
        return frontier_take(frontier_of(storage), storage->level, host->id, after, &storage->block);
    return frontier_take_newest(frontier_of(storage), storage->level, host->id, after ? after : INT64_MAX,
                                &storage->block);
}

/* Gives a host the URLs that it wants, as far as there are any on this level. */
static int serve(storage *storage, host_entry *host)
{
    if (host->lost)
        return VIDI_OK;
    if (storage->crawl->options.order == CRAWL_DEPTH)
        host->after = 0; /* from the newest block again */
    while (host->wanted > 0) {
        int error = take_block(storage, host, host->after);
        if (error == VIDI_EABSENT)
            return VIDI_OK;
        if (error == VIDI_OK) {
            host->after = storage->block.number;
            if (!has_block(host, &storage->block))
                error = hand_out(storage, host, &storage->block);
        }
        if (error)
            return error;
    }
    return VIDI_OK;
}

int host_table_want(storage *storage, const host_request *wanted)
{
    host_entry *host = host_table_find(storage, wanted->host);

    if (!host || host->leaving || host->lost)
        return VIDI_OK;
    host->wanted = wanted->count;
    int error = serve(storage, host);
    if (host->wanted > 0 && host->fresh)
        storage->sort_helps = true;
    return error;
}

/* ---- hosts that the fetcher does not have ---- */

static int read_row(storage *storage, host_entry *host, host_info *to)
{
    db_host row = {0};
    int error = db_host_read(storage->crawl->db, host->id, &row);

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
    to->robots_of_last_visit = !storage->crawl->options.continuous && row.robots_date < storage->crawl->visit.began;
    to->robots_reached = row.robots_reached;
    return host->origin ? bytes_append_str(&to->robots, row.robots) : VIDI_EMEMORY;
}

/* The origin of a host that has no row yet, from a URL of its first block. */
static int note_origin(storage *storage, host_entry *host)
{
    vidi_url parts;

    if (host->origin || storage->block.host != host->id || storage->block.count == 0 ||
        !web_url_view(storage->block.urls[0].url, &parts))
        return VIDI_OK;
    vidi_str origin = web_url_origin(&parts);
    host->origin = strndup(origin.ptr, origin.len);
    return host->origin ? VIDI_OK : VIDI_EMEMORY;
}

static int admit(storage *storage, uint64_t id)
{
    host_entry *host;
    host_info *known = calloc(1, sizeof *known);
    int error = known ? host_entry_add(storage, id, &host) : VIDI_EMEMORY;

    if (error) {
        free(known);
        return error;
    }
    known->message.kind = MESSAGE_HOST_INFO;
    known->host = id;
    if (storage->crawl->fleet) {
        host->site = storage->shared.site;
        known->wait = shared_wait(storage);
    }
    error = read_row(storage, host, known);
    if (error == VIDI_OK && known->not_before - crawl_date(storage->crawl) > LONG_WAIT) {
        message_free(&known->message);
        host_entry_forget(storage, host);
        return host_table_park(storage, id);
    }
    messages_add(&storage->to_fetcher, &known->message);
    if (error == VIDI_OK &&
        storage->crawl->fleet) /* which has looked at the first block, and may leave all of it out */
        error = note_origin(storage, host);
    if (error == VIDI_OK)
        error = serve(storage, host);
    if (error == VIDI_OK)
        error = note_origin(storage, host);
    if (error == VIDI_OK && host->origin)
        error = bytes_append_format(&known->origin, "%s/", host->origin);
    return error;
}

/* The next host on this level that can be fetched from, at or after `from`; members count only if asked for. */
static int next_host(storage *storage, uint32_t level, bool hosts, uint64_t from, uint64_t *found)
{
    for (;;) {
        int error = frontier_host(frontier_of(storage), level, from, found);
        if (error)
            return error;
        bool fits = hosts || (!host_table_find(storage, *found) && !is_deferred(storage, *found));
        fits = fits && !id_map_get(&storage->parked, *found);
        if (fits && !hosts && storage->crawl->fleet && (error = shared_admits(storage, level, *found, &fits)))
            return error;
        if (fits)
            return VIDI_OK;
        if (*found == UINT64_MAX >> 1)
            return VIDI_EABSENT;
        from = *found + 1;
    }
}

static int admit_hosts(storage *storage)
{
    uint64_t found;
    bool around = storage->cursor == 0;

    while (storage->more_hosts && storage->hosts.count < CRAWL_HOSTS) {
        int error = next_host(storage, storage->level, false, storage->cursor, &found);
        if (error == VIDI_OK) {
            storage->cursor = found + 1;
            error = admit(storage, found);
        } else if (error == VIDI_EABSENT) {
            storage->more_hosts = !around;
            storage->cursor = 0;
            around = true;
            error = VIDI_OK;
        }
        if (error)
            return error;
    }
    return VIDI_OK;
}

/* Other hosts are waiting: asks the fetcher to give some back. */
static int ask_for_room(storage *storage)
{
    int64_t now = storage_now();

    if (!storage->more_hosts || storage->hosts.count < CRAWL_HOSTS || now - storage->room_asked < ROOM_EVERY)
        return VIDI_OK;
    host_request *room = host_request_make(MESSAGE_MAKE_ROOM, 0, 0);
    if (!room)
        return VIDI_EMEMORY;
    storage->room_asked = now;
    messages_add(&storage->to_fetcher, &room->message);
    return VIDI_OK;
}

int host_table_feed(storage *storage)
{
    bool all_sorted = frontier_unsorted(frontier_of(storage)) == 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < storage->hosts.count && error == VIDI_OK; i++) {
        host_entry *host = storage->list[i];
        if (host->fresh && host->wanted > 0)
            error = serve(storage, host);
        if (all_sorted && host->wanted > 0)
            host->fresh = false;
    }
    if (error == VIDI_OK)
        error = admit_hosts(storage);
    return error ? error : ask_for_room(storage);
}

/* ---- levels ---- */

static int begin_level(storage *storage, uint32_t level)
{
    if (level != storage->level)
        for (size_t i = 0; i < storage->hosts.count; i++)
            storage->list[i]->after = 0;
    for (size_t i = 0; i < storage->hosts.count; i++)
        storage->list[i]->fresh = true;
    storage->level = level;
    storage->cursor = 0;
    storage->more_hosts = true;
    return host_table_feed(storage);
}

int host_table_is_done(storage *storage, bool *done)
{
    uint32_t level;
    uint64_t found;

    *done = false;
    if (storage->out > 0 || !batch_is_empty(&storage->batch) || storage->sites_ripe)
        return VIDI_OK;
    if (frontier_unsorted(frontier_of(storage)) > 0) { /* found on the last pages of hosts that had left by then */
        storage->sort_helps = true;
        return VIDI_OK;
    }
    int error = frontier_level(frontier_of(storage), &level);
    while (error == VIDI_OK && level < FRONTIER_WAITING) {
        error = next_host(storage, level, true, 0, &found);
        if (error == VIDI_OK)
            return begin_level(storage, level);
        if (error == VIDI_EABSENT)
            error = frontier_next_level(frontier_of(storage), level, &level);
    }
    *done = error == VIDI_EABSENT || error == VIDI_OK; /* what is left waits for the budgets of its sites */
    return *done ? VIDI_OK : error;
}

void host_table_free(storage *storage)
{
    for (size_t i = 0; i < storage->hosts.count; i++)
        host_entry_free(storage->list[i]);
    free(storage->list);
    id_map_free(&storage->hosts);
    id_map_free(&storage->parked);
    id_map_free(&storage->later);
    bytes_free(&storage->block.text);
}
