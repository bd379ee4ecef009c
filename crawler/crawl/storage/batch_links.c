/*
 * The links of a batch: see storage.h. All of them go through the set in one call, in the order in which they were
 * found; each new one becomes a row of the frontier.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/base/list.h"
#include "crawler/base/web_url.h"
#include "crawler/crawl/storage/storage.h"

bool batch_is_empty(const batch *batch)
{
    return !batch->fetch_jobs.first && !batch->host_infos.first && batch->drop_count == 0 && !batch->is_open &&
           batch->rows_taken == 0;
}

int batch_drop_block(storage *storage, uint64_t host, uint32_t level, uint64_t number)
{
    batch *b = &storage->batch;

    if (list_reserve(&b->drops, &b->drop_room, b->drop_count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    b->drops[b->drop_count++] = (batch_drop){host, number, level};
    return VIDI_OK;
}

/* ---- links ---- */

/* The three lists of links have the same length. */
static int reserve_links(batch *b, size_t more)
{
    size_t count = b->link_count + more, room = b->link_room;

    if (count <= room)
        return VIDI_OK;
    int error = list_reserve(&b->urls, &room, count);
    room = b->link_room;
    if (error == VIDI_OK)
        error = list_reserve(&b->links, &room, count);
    room = b->link_room;
    if (error == VIDI_OK)
        error = list_reserve(&b->verdicts, &room, count);
    if (error == VIDI_OK)
        b->link_room = room;
    return error;
}

static void add_link(batch *b, vidi_str url, batch_link link)
{
    b->urls[b->link_count] = url;
    b->verdicts[b->link_count] = VIDI_UNTRIED;
    b->links[b->link_count++] = link;
}

/* The links of a page: those that must not be followed, or the others. */
static int gather_page(batch *b, const fetch_job *page, bool nofollow)
{
    const harvest *h = &page->harvest;

    if (!page->harvested)
        return VIDI_OK;
    int error = reserve_links(b, h->link_count);
    for (size_t i = 0; i < h->link_count && error == VIDI_OK; i++)
        if (h->links[i].nofollow == nofollow)
            add_link(b, h->links[i].url, (batch_link){.page = page, .link = &h->links[i]});
    return error;
}

static void count_skipped(batch *b, const fetch_job *page)
{
    for (size_t i = 0; i < HARVEST_SKIPS && page->harvested; i++)
        b->skipped[i] += page->harvest.skipped[i];
}

static int gather_host_info(batch *b, const host_info *news)
{
    const char *at = news->sitemaps.ptr, *end = at + news->sitemaps.len;

    while (at < end) {
        vidi_str url = {at, strlen(at)};
        if (reserve_links(b, 1) != VIDI_OK)
            return VIDI_EMEMORY;
        add_link(b, url, (batch_link){.page = NULL});
        at += url.len + 1;
    }
    return VIDI_OK;
}

static const message *after(const message *last, const messages *all)
{
    return last ? last->next : all->first;
}

static int gather_asked(batch *b)
{
    int error = reserve_links(b, b->asked_count - b->asked_added);

    for (; b->asked_added < b->asked_count && error == VIDI_OK; b->asked_added++)
        add_link(b, b->asked[b->asked_added].url, (batch_link){.asked = &b->asked[b->asked_added]});
    return error;
}

/* *end: the set is asked about the links before this one. Those that must not be followed come after them. */
static int gather(batch *b, bool check, size_t *end)
{
    int error = gather_asked(b);

    for (const message *one = after(b->last_info, &b->host_infos); one && error == VIDI_OK; one = one->next)
        error = gather_host_info(b, (const host_info *)one);
    for (const message *one = after(b->last_job, &b->fetch_jobs); one && error == VIDI_OK; one = one->next)
        error = gather_page(b, (const fetch_job *)one, false);
    *end = b->link_count;
    for (const message *one = after(b->last_job, &b->fetch_jobs); one && error == VIDI_OK; one = one->next) {
        count_skipped(b, (const fetch_job *)one);
        if (check)
            error = gather_page(b, (const fetch_job *)one, true);
    }
    b->last_info = b->host_infos.last;
    b->last_job = b->fetch_jobs.last;
    return error;
}

/* ---- rows ---- */

/* The key of a URL's host. Links come in runs of one host, so the last one is remembered. */
static int host_key(storage *storage, vidi_str origin, vidi_str *last, uint64_t *key)
{
    if (last->len == origin.len && memcmp(last->ptr, origin.ptr, origin.len) == 0)
        return VIDI_OK;
    *last = origin;
    return url_keys_make(storage->crawl->keys, &origin, 1, key);
}

frontier_url batch_row_of(vidi_str url, const batch_link *from)
{
    const fetch_job *page = from->page;

    if (from->asked)
        return *from->asked;
    if (!page)
        return (frontier_url){.url = url, .kind = FRONTIER_SITEMAP};
    bool redirect = from->link->is_redirect, same = redirect || from->link->kind == FRONTIER_RESOURCE;
    return (frontier_url){.url = url,
                          .depth = page->url.depth + (same ? 0 : 1),
                          .hops = redirect ? page->url.hops + 1 : harvest_hops(&page->url, from->link->kind),
                          .kind = from->link->kind,
                          .referrer = page->url.id};
}

/* Makes a row of a URL that is new, at the end of the list. *made NULL: it cannot be fetched, or will be visited anyway. */
static int make_row(storage *storage, frontier_url url, vidi_str *last, uint64_t *key, batch_row **made)
{
    batch *b = &storage->batch;
    vidi_url parts;
    bool scheduled = false;

    *made = NULL;
    if (!web_url_view(url.url, &parts)) {
        b->skipped[HARVEST_BAD]++;
        return VIDI_OK;
    }
    int error = list_reserve(&b->rows, &b->row_room, b->row_count + 1);
    if (error == VIDI_OK)
        error = host_key(storage, web_url_origin(&parts), last, key);
    if (error)
        return error;
    url.host = *key;
    error = visit_page_of(storage->crawl, url.url, &url.page);
    if (error == VIDI_OK)
        error = continuous_knows(storage, url.page, &scheduled);
    if (error || scheduled)
        return error;
    *made = &b->rows[b->row_count++];
    **made = (batch_row){.url = url};
    host_table_appended(storage, url.host);
    if (storage->continuous.schedule) /* the first visit is not part of the budget */
        storage->continuous.tokens--;
    if (!parts.query.ptr)
        return VIDI_OK;
    vidi_str path = {parts.href.ptr, (size_t)(parts.path.ptr + parts.path.len - parts.href.ptr)};
    return url_keys_make(storage->crawl->keys, &path, 1, &(*made)->path);
}

static int add_rows(storage *storage, size_t from)
{
    batch *b = &storage->batch;
    vidi_str last = {"", 0};
    uint64_t key = 0;
    batch_row *made;
    int error = VIDI_OK;

    for (size_t i = from; i < b->link_count && error == VIDI_OK; i++) {
        if (b->verdicts[i] == VIDI_NEW)
            error = make_row(storage, batch_row_of(b->urls[i], &b->links[i]), &last, &key, &made);
        else if (b->verdicts[i] == VIDI_INVALID)
            b->skipped[HARVEST_BAD]++;
    }
    return error;
}

static int make_targets(storage *storage, size_t from)
{
    batch *b = &storage->batch;
    size_t count = b->link_count - from;

    if (!storage->crawl->targets || count == 0)
        return VIDI_OK;
    int error = list_reserve(&b->targets, &b->target_room, b->link_count);
    return error ? error : url_keys_make(storage->crawl->targets, b->urls + from, count, b->targets + from);
}

int batch_ask_set(storage *storage)
{
    batch *b = &storage->batch;
    size_t from = b->link_count, end = from;
    int error = gather(b, storage->crawl->targets, &end);

    if (error == VIDI_OK && end > from)
        error = storage->crawl->fleet
                    ? shared_send(storage, from, end)
                    : vidi_add_batch(storage->crawl->set, b->urls + from, end - from, b->verdicts + from, NULL);
    if (error == VIDI_OK)
        error = add_rows(storage, from);
    if (error == VIDI_OK && storage->crawl->fleet)
        error = shared_remember(storage);
    return error ? error : make_targets(storage, from);
}

int batch_take_row(storage *storage, const frontier_url *url, char *text, vidi_str far)
{
    batch *b = &storage->batch;
    vidi_str last = {"", 0};
    uint64_t key = 0;
    batch_row *made;

    if (batch_is_empty(b))
        b->began = storage_now();
    int error = make_row(storage, *url, &last, &key, &made);
    if (!made) {
        free(text);
        return error ? error : VIDI_INVALID;
    }
    made->text = text;
    made->far = far;
    b->rows_taken++;
    return error;
}

int batch_delay(storage *storage, uint64_t page, int64_t due, uint64_t visit)
{
    batch *b = &storage->batch;

    if (list_reserve(&b->rows, &b->row_room, b->row_count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    b->rows[b->row_count++] = (batch_row){.url = {.page = page}, .due = due, .visit = visit};
    return VIDI_OK;
}

int batch_turn(storage *storage, const frontier_url *url)
{
    batch *b = &storage->batch;
    uint8_t verdict;

    if (list_reserve(&b->rows, &b->row_room, b->row_count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    batch_row row = {.url = *url,
                     .due = INT64_MAX,
                     .visit = storage->crawl->visit.number,
                     .is_turn = true,
                     .text = strndup(url->url.ptr, url->url.len)};
    if (!row.text)
        return VIDI_EMEMORY;
    row.url.url.ptr = row.text;
    b->rows[b->row_count++] = row;
    host_table_appended(storage, url->host);
    return vidi_add_batch(storage->crawl->set, &row.url.url, 1, &verdict, NULL); /* links to it are not new */
}

/* ---- afterwards ---- */

void batch_clear_rows(batch *batch)
{
    for (size_t i = 0; i < batch->row_count; i++)
        free(batch->rows[i].text);
    batch->row_count = batch->rows_written = batch->rows_taken = batch->rows_known = batch->sort_count = 0;
    batch->is_open = false;
}

void batch_clear(batch *batch)
{
    messages_free(&batch->fetch_jobs);
    messages_free(&batch->host_infos);
    memset(batch->skipped, 0, sizeof batch->skipped);
    batch->last_job = batch->last_info = NULL;
    batch_clear_rows(batch);
    batch->bytes = batch->link_count = batch->drop_count = 0;
    batch->asked_count = batch->asked_added = batch->asked_text.len = 0;
    batch->lines.len = 0;
    batch->lines_written = batch->lines_synced = batch->lines_failed = false;
    id_map_clear(&batch->payloads);
}

void batch_free(batch *batch)
{
    batch_clear(batch);
    free(batch->urls);
    free(batch->verdicts);
    free(batch->links);
    free(batch->targets);
    free(batch->asked);
    free(batch->asked_keys);
    bytes_free(&batch->asked_text);
    free(batch->rows);
    free(batch->sorts);
    free(batch->drops);
    bytes_free(&batch->lines);
    id_map_free(&batch->payloads);
}
