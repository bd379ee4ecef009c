/*
 * Links of a crawl of a fleet: see storage.h, and fleet/links/fleet.h for the order in which things happen. The fleet's
 * set decides what is new. The process's own set is added to all the same, because it says how far the database has
 * come when the crawl is opened again; what it answers does not matter.
 *
 * With each URL goes what its row needs, as text: depth, hops, kind, and the page that it was found on, which may be
 * missing: "2 0 0 https://example.org/".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/ascii.h"
#include "crawler/base/list.h"
#include "crawler/base/web_url.h"
#include "crawler/crawl/storage/storage.h"

enum {
    TAKEN = 1000,      /* links that are taken at a time */
    TAKEN_MOST = 5000, /* rows of such links in a batch, above which no more are taken */
    SEEDS = 1000,      /* seeds that are sent at a time */
    KNOWN = 1024       /* URLs that are added to the set at a time */
};

/* ---- what goes with a URL ---- */

static int put_payload(storage *storage, const frontier_url *url, vidi_str found_on)
{
    bytes *to = &storage->shared.payloads;
    int error = bytes_append_format(to, "%" PRIu32 " %" PRIu32 " %d", url->depth, url->hops, (int)url->kind);

    if (error || found_on.len == 0 || found_on.len > storage->crawl->options.max_url)
        return error;
    error = bytes_append_text(to, " ");
    return error ? error : bytes_append_str(to, found_on);
}

/* The number up to the next space, which must not be greater than `most`. False: it is not one. */
static bool take_number(vidi_str *text, uint64_t most, uint64_t *number)
{
    size_t length = 0;

    *number = 0;
    for (; length < text->len && text->ptr[length] != ' '; length++) {
        if (!ascii_is_digit(text->ptr[length]) || *number > most)
            return false;
        *number = *number * 10 + (uint64_t)(text->ptr[length] - '0');
    }
    if (length == 0 || *number > most)
        return false;
    length += length < text->len;
    *text = (vidi_str){text->ptr + length, text->len - length};
    return true;
}

/* A URL comes without its payload if that is not one of ours, and is then a page like those that are named. */
static void read_payload(vidi_str payload, frontier_url *url, vidi_str *found_on)
{
    uint64_t depth, hops, kind;
    vidi_url parts;

    *found_on = (vidi_str){0};
    if (!take_number(&payload, UINT32_MAX, &depth) || !take_number(&payload, UINT32_MAX, &hops) ||
        !take_number(&payload, FRONTIER_KINDS - 1, &kind))
        return;
    url->depth = (uint32_t)depth;
    url->hops = (uint32_t)hops;
    url->kind = (frontier_kind)kind;
    if (payload.len > 0 && web_url_view(payload, &parts))
        *found_on = payload;
}

/* Where a URL of the frontier was found. */
static int find_page(storage *storage, const frontier_url *url)
{
    shared *self = &storage->shared;
    crawl_db *db = storage->crawl->db;

    if (!url->referrer || url->referrer != self->found_on_row) {
        self->found_on.len = 0;
        self->found_on_row = url->referrer;
        int error = url->referrer ? frontier_text(db_frontier(db), url->referrer, &self->found_on)
                                  : db_far_find(db, url->id, &self->found_on);
        if (error && error != VIDI_EABSENT)
            return error;
    }
    return VIDI_OK;
}

int shared_note_far(storage *storage, const batch_row *row)
{
    shared *self = &storage->shared;
    bool same = self->far_known && self->far.len == row->far.len &&
                (row->far.len == 0 || memcmp(self->far.ptr, row->far.ptr, row->far.len) == 0);

    if (row->url.referrer || same)
        return VIDI_OK;
    self->far.len = 0;
    self->far_known = bytes_append_str(&self->far, row->far) == VIDI_OK;
    return db_far_add(storage->crawl->db, row->url.id, row->far);
}

/* ---- lists for the fleet ---- */

/* One more URL for the next call; its payload's place is known when all are there. */
static int list_link(storage *storage, const frontier_url *url, vidi_str found_on, size_t *count)
{
    shared *self = &storage->shared;
    size_t begin = self->payloads.len;

    if (*count == 0)
        begin = self->payloads.len = 0;
    int error = list_reserve(&self->links, &self->link_room, *count + 1);
    if (error == VIDI_OK)
        error = put_payload(storage, url, found_on);
    if (error == VIDI_OK)
        self->links[(*count)++] = (fleet_link){.url = url->url, .payload = {NULL, self->payloads.len - begin}};
    return error;
}

int shared_list(storage *storage, const frontier_url *url, size_t *count)
{
    int error = find_page(storage, url);

    return error ? error : list_link(storage, url, bytes_str(&storage->shared.found_on), count);
}

fleet_link *shared_listed(storage *storage, size_t count)
{
    shared *self = &storage->shared;
    const char *at = self->payloads.ptr;

    for (size_t i = 0; i < count; i++) {
        self->links[i].payload.ptr = at;
        at += self->links[i].payload.len;
    }
    return self->links;
}

/* ---- sending ---- */

static int send_links(storage *storage, size_t count)
{
    struct fleet *fleet = storage->crawl->fleet;
    fleet_link *links = shared_listed(storage, count);
    int error;

    do
        error = count ? fleet_send_links(fleet, links, count) : VIDI_OK;
    while (error == VIDI_EBUSY && (error = shared_make_way(storage)) == VIDI_OK);
    return error ? storage_failed(storage, error, "cannot hand links over", fleet_why(fleet)) : VIDI_OK;
}

static int add_batch_link(storage *storage, size_t place, size_t *count)
{
    shared *self = &storage->shared;
    const batch *b = &storage->batch;
    const fetch_job *page = b->links[place].page;
    frontier_url row = batch_row_of(b->urls[place], &b->links[place]);
    vidi_url parts;

    b->verdicts[place] = VIDI_SEEN;
    if (!web_url_view(row.url, &parts)) {
        b->verdicts[place] = VIDI_INVALID;
        return VIDI_OK;
    }
    if (list_reserve(&self->places, &self->place_room, *count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    self->places[*count] = place;
    return list_link(storage, &row, page ? page->url.url : (vidi_str){0}, count);
}

int shared_send(storage *storage, size_t from, size_t end)
{
    shared *self = &storage->shared;
    size_t count = 0;
    int error = VIDI_OK;

    for (size_t i = from; i < end && error == VIDI_OK; i++)
        error = add_batch_link(storage, i, &count);
    if (error == VIDI_OK)
        error = send_links(storage, count);
    for (size_t i = 0; i < count && error == VIDI_OK; i++)
        if (self->links[i].claimed)
            storage->batch.verdicts[self->places[i]] = VIDI_NEW;
    return error;
}

/* ---- taking ---- */

static int take_link(void *context, vidi_str url, vidi_str payload)
{
    storage *storage = context;
    frontier_url row = {.kind = FRONTIER_PAGE};
    vidi_str far;

    read_payload(payload, &row, &far);
    char *text = malloc(url.len + far.len + 1);
    if (!text)
        return VIDI_EMEMORY;
    memcpy(text, url.ptr, url.len);
    if (far.len)
        memcpy(text + url.len, far.ptr, far.len);
    row.url = (vidi_str){text, url.len};
    int error = batch_take_row(storage, &row, text, (vidi_str){far.len ? text + url.len : NULL, far.len});
    if (error != VIDI_INVALID)
        return error;
    error = bytes_append_str(&storage->shared.bad, url);
    return error ? error : bytes_append(&storage->shared.bad, "", 1);
}

/* What was sent and cannot be fetched is done, or it would be claimed for ever. */
static int drop_bad(storage *storage)
{
    const bytes *bad = &storage->shared.bad;
    int error = VIDI_OK;

    for (size_t at = 0; at < bad->len && error == VIDI_OK; at += strlen(bad->ptr + at) + 1)
        error = fleet_done(storage->crawl->fleet, &(vidi_str){bad->ptr + at, strlen(bad->ptr + at)}, 1);
    storage->shared.bad.len = 0;
    return error;
}

int shared_take(storage *storage)
{
    shared *self = &storage->shared;
    struct fleet *fleet = storage->crawl->fleet;
    int error = VIDI_OK;

    if (!fleet_has_links(fleet) || storage->batch.rows_taken >= TAKEN_MOST)
        return VIDI_OK;
    error = fleet_take_links(fleet, TAKEN, take_link, storage, NULL);
    self->took = self->took || error == VIDI_OK;
    if (error == VIDI_OK)
        error = drop_bad(storage);
    if (error == VIDI_OK && storage->batch.rows_taken == 0) { /* all of them were known */
        self->took = false;
        error = fleet_took(fleet);
    }
    return error ? storage_failed(storage, error, "cannot take links", fleet_why(fleet)) : VIDI_OK;
}

int shared_make_way(storage *storage)
{
    int error = shared_take(storage);

    return error || storage->batch.row_count == 0 ? error : storage_commit_rows(storage);
}

int shared_remember(storage *storage)
{
    shared *self = &storage->shared;
    batch *b = &storage->batch;
    size_t count = b->row_count - b->rows_known;
    uint8_t verdicts[KNOWN];
    int error = VIDI_OK;

    if (list_reserve(&self->urls, &self->url_room, count) != VIDI_OK)
        return VIDI_EMEMORY;
    for (size_t i = 0; i < count; i++)
        self->urls[i] = b->rows[b->rows_known + i].url.url;
    for (size_t at = 0, n; at < count && error == VIDI_OK; at += n) {
        n = count - at < sizeof verdicts ? count - at : sizeof verdicts;
        error = vidi_add_batch(storage->crawl->set, self->urls + at, n, verdicts, NULL);
    }
    if (error == VIDI_OK)
        b->rows_known = b->row_count;
    return error;
}

/* ---- seeds ---- */

/* All seeds of the crawl. */
typedef struct seed_list {
    bytes text;
    size_t *ends;
    size_t count, room;
} seed_list;

static int keep_seed(void *context, uint64_t number, vidi_str url)
{
    seed_list *self = context;

    (void)number;
    if (list_reserve(&self->ends, &self->room, self->count + 1) != VIDI_OK ||
        bytes_append_str(&self->text, url) != VIDI_OK)
        return VIDI_EMEMORY;
    self->ends[self->count++] = self->text.len;
    return 0;
}

static int take_seed(storage *storage, vidi_str url)
{
    frontier_url row = {.kind = FRONTIER_SEED};
    char *text = strndup(url.ptr, url.len);

    if (!text)
        return VIDI_EMEMORY;
    row.url = (vidi_str){text, url.len};
    return batch_take_row(storage, &row, text, (vidi_str){0});
}

/* Sends the seeds from `from` up to `end`, and makes rows of those that are this process's. */
static int send_seeds(storage *storage, const seed_list *all, size_t from, size_t end)
{
    shared *self = &storage->shared;
    size_t count = 0;
    int error = VIDI_OK;

    for (size_t i = from; i < end && error == VIDI_OK; i++) {
        size_t begin = i ? all->ends[i - 1] : 0;
        frontier_url seed = {.kind = FRONTIER_SEED, .url = {all->text.ptr + begin, all->ends[i] - begin}};
        error = list_link(storage, &seed, (vidi_str){0}, &count);
    }
    if (error == VIDI_OK)
        error = send_links(storage, count);
    for (size_t i = 0; i < count && error == VIDI_OK; i++)
        if (self->links[i].claimed)
            error = take_seed(storage, self->links[i].url);
    return error ? error : storage_commit_rows(storage);
}

int shared_seeds(storage *storage)
{
    crawl *c = storage->crawl;
    seed_list all = {0};
    int64_t sent = 0;
    int error = db_get(c->db, "seeds_sent", &sent);

    if (error == VIDI_OK && (uint64_t)sent == c->fleet_visit)
        return VIDI_OK;
    if (error == VIDI_OK || error == VIDI_EABSENT)
        error = db_seeds(c->db, keep_seed, &all);
    for (size_t at = 0; at < all.count && error == VIDI_OK; at += SEEDS) {
        size_t end = at + SEEDS < all.count ? at + SEEDS : all.count;
        storage->shared.seeds_sent = end == all.count;
        error = send_seeds(storage, &all, at, end);
    }
    bytes_free(&all.text);
    free(all.ends);
    return error;
}

void shared_free(storage *storage)
{
    shared *self = &storage->shared;

    free(self->links);
    free(self->places);
    free(self->urls);
    free(self->mine);
    bytes_free(&self->payloads);
    bytes_free(&self->found_on);
    bytes_free(&self->far);
    bytes_free(&self->bad);
    id_map_free(&self->barred);
}
