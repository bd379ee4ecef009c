/*
 * Pages of a crawl of a fleet: which of them are this process's to fetch, and how the fleet hears that they are done. See
 * storage.h.
 *
 * A page is done for the fleet only when its outcome is in the database: if the process dies in between, another one
 * fetches the page once more. Rows whose outcomes the fleet may not have heard of are in the table `untold`, so the
 * next run of this process can still tell it.
 */
#include <string.h>

#include "crawler/base/list.h"
#include "crawler/crawl/storage/storage.h"

enum {
    TOLD = 1000,       /* pages of the last run that the fleet hears of at a time */
    STAT_EVERY = 10000 /* milliseconds between two looks at the fleet's set */
};

const char shared_reason[] = "elsewhere";

static int failed(storage *storage, int error, const char *what)
{
    return storage_failed(storage, error, what, fleet_why(storage->crawl->fleet));
}

/* ---- before pages are fetched ---- */

int shared_elsewhere(storage *storage, const frontier_url *url, const frontier_block *block)
{
    crawl *c = storage->crawl;
    batch *b = &storage->batch;
    fetch_job *made = fetch_job_make(url, block->number, block->level);

    if (!made)
        return VIDI_EMEMORY;
    made->reason = shared_reason;
    made->date = crawl_date(c);
    made->weight = sizeof *made;
    if (batch_is_empty(b))
        b->began = storage_now();
    atomic_fetch_add(&c->busy, 1);
    atomic_fetch_add(&c->fetch_jobs, 1);
    atomic_fetch_add(&c->weight, made->weight);
    b->bytes += made->weight;
    messages_add(&b->fetch_jobs, &made->message);
    return VIDI_OK;
}

int shared_check(storage *storage, frontier_block *block)
{
    shared *self = &storage->shared;
    size_t count = 0, kept = 0;
    int error = list_reserve(&self->mine, &self->mine_room, block->count);

    for (size_t i = 0; i < block->count && error == VIDI_OK; i++)
        error = shared_list(storage, &block->urls[i], &count);
    if (error)
        return error;
    error = fleet_check_block(storage->crawl->fleet, shared_listed(storage, count), count, self->mine);
    if (error)
        return failed(storage, error, "cannot claim pages");
    for (size_t i = 0; i < count && error == VIDI_OK; i++) {
        if (self->mine[i])
            block->urls[kept++] = block->urls[i];
        else
            error = shared_elsewhere(storage, &block->urls[i], block);
    }
    block->count = kept;
    return error;
}

int shared_put_back(storage *storage, vidi_str urls)
{
    shared *self = &storage->shared;
    size_t count = 0;

    for (const char *at = urls.ptr, *end = at + urls.len; at < end; count++) {
        vidi_str url = {at, strlen(at)};
        if (list_reserve(&self->urls, &self->url_room, count + 1) != VIDI_OK)
            return VIDI_EMEMORY;
        self->urls[count] = url;
        at += url.len + 1;
    }
    if (count > 0)
        fleet_put_back(storage->crawl->fleet, self->urls, count);
    return VIDI_OK;
}

/* ---- when they are done ---- */

/* Appends a URL to shared.urls. */
static int add_url(shared *self, vidi_str url, size_t *count)
{
    if (list_reserve(&self->urls, &self->url_room, *count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    self->urls[(*count)++] = url;
    return VIDI_OK;
}

int shared_write_untold(storage *storage, bool all)
{
    crawl_db *db = storage->crawl->db;
    const batch *b = &storage->batch;
    int error = db_untold_clear(db); /* the fleet has heard of those that were there */

    for (size_t i = 0; i < b->row_count && error == VIDI_OK; i++)
        if (b->rows[i].trapped)
            error = db_untold_add(db, b->rows[i].url.id);
    for (const message *one = all ? b->fetch_jobs.first : NULL; one && error == VIDI_OK; one = one->next)
        if (((const fetch_job *)one)->reason != shared_reason)
            error = db_untold_add(db, ((const fetch_job *)one)->url.id);
    if (error == VIDI_OK && storage->shared.seeds_sent)
        error = db_set(db, "seeds_sent", (int64_t)storage->crawl->fleet_visit);
    return error;
}

int shared_committed(storage *storage, bool all)
{
    shared *self = &storage->shared;
    struct fleet *fleet = storage->crawl->fleet;
    const batch *b = &storage->batch;
    size_t count = 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < b->row_count && error == VIDI_OK; i++)
        if (b->rows[i].trapped)
            error = add_url(self, b->rows[i].url.url, &count);
    for (const message *one = all ? b->fetch_jobs.first : NULL; one && error == VIDI_OK; one = one->next)
        if (((const fetch_job *)one)->reason != shared_reason)
            error = add_url(self, ((const fetch_job *)one)->url.url, &count);
    if (error == VIDI_OK && count > 0)
        error = fleet_done(fleet, self->urls, count);
    if (error == VIDI_OK && self->took)
        error = fleet_took(fleet);
    self->took = self->took && error;
    self->handed_over = self->handed_over && !all;
    return error ? failed(storage, error, "cannot tell the fleet what is done") : VIDI_OK;
}

/* Pages of the last run that the fleet hears of together. */
typedef struct telling {
    storage *storage;
    bytes text;
    size_t ends[TOLD], count;
} telling;

static int tell(telling *self)
{
    shared *to = &self->storage->shared;
    size_t count = 0, begin = 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < self->count && error == VIDI_OK; i++) {
        error = add_url(to, (vidi_str){self->text.ptr + begin, self->ends[i] - begin}, &count);
        begin = self->ends[i];
    }
    if (error == VIDI_OK && count > 0)
        error = fleet_done(self->storage->crawl->fleet, to->urls, count);
    self->count = self->text.len = 0;
    return error;
}

static int tell_one(void *context, uint64_t row, vidi_str url)
{
    telling *self = context;

    (void)row;
    if (bytes_append_str(&self->text, url) != VIDI_OK)
        return VIDI_EMEMORY;
    self->ends[self->count++] = self->text.len;
    return self->count == TOLD ? tell(self) : VIDI_OK;
}

int shared_tell_rest(storage *storage)
{
    telling self = {.storage = storage};
    int error = db_untold(storage->crawl->db, tell_one, &self);

    if (error == VIDI_OK)
        error = tell(&self);
    bytes_free(&self.text);
    return error ? failed(storage, error, "cannot tell the fleet what is done") : VIDI_OK;
}

/* ---- figures ---- */

int shared_stat(storage *storage)
{
    shared *self = &storage->shared;
    vidi_stats stats = {.size = sizeof stats};
    int64_t now = storage_now();

    if (now >= self->stat_at || storage->crawl->ends) {
        int error = fleet_stat(storage->crawl->fleet, &stats, NULL);
        if (error)
            return failed(storage, error, "cannot read the fleet's set");
        self->expected_lost = stats.expected_lost;
        self->fp_meaning = stats.fp_meaning;
        self->stat_at = now + STAT_EVERY;
    }
    storage->stats.expected_lost = self->expected_lost;
    storage->stats.fp_meaning = self->fp_meaning;
    return VIDI_OK;
}
