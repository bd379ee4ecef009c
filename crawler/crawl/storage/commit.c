/*
 * Committing a batch: see crawl.h for the order. Until the transaction is through, nothing else is added to the set:
 * URLs that it calls seen although no row has them would be lost. If a transaction fails for good, the set is closed
 * without a commit, and those URLs are new again.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "crawler/base/list.h"
#include "crawler/crawl/storage/storage.h"

enum {
    TRIES = 50,      /* of a write that fails because the disk is full or another process holds a lock */
    TRY_EVERY = 100, /* milliseconds between two tries */
    SORTED = 50000   /* rows that one transaction sorts at most */
};

static void wait_a_moment(void)
{
    struct timespec moment = {.tv_nsec = TRY_EVERY * 1000000L};

    nanosleep(&moment, NULL);
}

static bool may_pass(int error)
{
    return error == VIDI_EBUSY || error == VIDI_ELIMIT;
}

int storage_failed(storage *storage, int error, const char *what, const char *said)
{
    crawl_fail(storage->crawl, "%s: %s", what, said && *said ? said : vidi_strerror(error));
    return error;
}

/* ---- archive and output file ---- */

static int store_page(storage *storage, fetch_job *page)
{
    vidi_str records;
    if (!page->harvested)
        return VIDI_OK;
    int error = payloads_records(storage, page, &records);
    if (error)
        return storage_failed(storage, error, "cannot read the database", db_error(storage->crawl->db));
    if (records.len == 0)
        return VIDI_OK;
    for (int tries = 0; tries < TRIES; tries++) {
        error = archive_write(storage->crawl->archive, records, &page->file, &page->offset);
        if (!may_pass(error))
            break;
        wait_a_moment();
    }
    page->stored = error == VIDI_OK;
    return error ? error : payloads_note(storage, page);
}

static int store(storage *storage)
{
    crawl *c = storage->crawl;
    int error = VIDI_OK;

    if (!c->archive)
        return VIDI_OK;
    for (message *one = storage->batch.fetch_jobs.first; one && error == VIDI_OK; one = one->next)
        error = store_page(storage, (fetch_job *)one);
    for (int tries = 0; error == VIDI_OK && tries < TRIES; tries++) {
        error = archive_sync(c->archive);
        if (!may_pass(error))
            break;
        wait_a_moment();
        error = tries + 1 < TRIES ? VIDI_OK : error;
    }
    return error ? storage_failed(storage, error, "cannot write the archive", archive_error(c->archive)) : VIDI_OK;
}

/* The URL of the page that it was found on. VIDI_EABSENT: on none that is known. */
static int read_referrer(const crawl *c, const frontier_url *url, bytes *to)
{
    if (url->referrer)
        return frontier_text(db_frontier(c->db), url->referrer, to);
    return c->fleet ? db_far_find(c->db, url->id, to) : VIDI_EABSENT;
}

static int append_line(storage *storage, const frontier_url *url, const db_outcome *row)
{
    crawl *c = storage->crawl;
    bytes referrer = {0};
    crawl_outcome told = {.url = url->url, .depth = url->depth, .kind = url->kind, .row = *row};
    int error = read_referrer(c, url, &referrer);

    if (error == VIDI_EABSENT)
        error = VIDI_OK;
    told.referrer = bytes_str(&referrer);
    if (error == VIDI_OK)
        error = c->options.line(c->options.line_context, &told, &storage->batch.lines);
    bytes_free(&referrer);
    return error;
}

static bool wants_lines(const storage *storage)
{
    return output_is_open(&storage->crawl->output) && storage->crawl->options.line && !storage->batch.lines_written;
}

/* Writes and syncs the lines, each once, however often the transaction is tried. */
static int write_lines(storage *storage)
{
    batch *b = &storage->batch;
    output *to = &storage->crawl->output;
    int error = VIDI_OK;

    if (wants_lines(storage) && b->lines.len > 0) {
        error = output_write(to, bytes_str(&b->lines));
        b->lines_written = error == VIDI_OK;
    }
    if (b->lines_written && !b->lines_synced) {
        error = output_sync(to);
        b->lines_synced = error == VIDI_OK;
    }
    b->lines_failed = error != VIDI_OK;
    return error;
}

/* ---- the transaction ---- */

static db_outcome outcome_of(const fetch_job *page, char *name)
{
    const harvest *h = &page->harvest;
    db_outcome row = {.id = page->url.id,
                      .status = page->status,
                      .reason = page->reason,
                      .error = *page->error ? page->error : NULL,
                      .bytes = page->body_bytes,
                      .date = page->date,
                      .seconds = (double)page->took_us / 1e6};

    if (page->harvested) {
        row.type = (vidi_str){h->type, strlen(h->type)};
        row.digest = *h->digest ? h->digest : NULL;
        row.content = *h->content ? h->content : NULL;
        row.etag = (vidi_str){*h->etag ? h->etag : NULL, strlen(h->etag)};
        row.modified = (vidi_str){*h->modified ? h->modified : NULL, strlen(h->modified)};
        row.body = page->body ? page->body : page->status == 304 && page->known ? page->known->row : 0;
        row.redirect = h->redirect;
        row.links = h->found;
        row.kept = h->link_count;
        if (!row.error && *h->problem)
            row.error = h->problem;
    }
    if (page->stored) {
        row.file = archive_name(page->file, name);
        row.offset = page->offset;
        row.length = h->response_length;
        row.record = h->record;
    }
    return row;
}

static int write_outcome(storage *storage, frontier_url *url, db_outcome *row, counters *counts)
{
    db_prior prior = {0};
    bool elsewhere = row->reason == shared_reason; /* which says nothing about the page */
    int error = elsewhere ? VIDI_OK : change_find(storage->crawl, row, &prior);

    url->page = prior.page == url->id ? 0 : prior.page;
    if (error == VIDI_OK)
        error = db_outcome_add(storage->crawl->db, row);
    if (error == VIDI_EEXIST)
        return VIDI_OK;
    if (error == VIDI_OK && prior.page)
        error = db_newest_write(storage->crawl->db, &prior);
    if (error == VIDI_OK)
        error = continuous_note(storage, url, row, &prior);
    if (error)
        return error;
    counts->outcomes++;
    counts->bytes += row->bytes;
    counts->pages += row->status != 0;
    counts->errors += row->reason && !elsewhere;
    counts->seeds_fetched += !row->reason && url->kind == FRONTIER_SEED;
    return wants_lines(storage) ? append_line(storage, url, row) : VIDI_OK;
}

/* A URL whose path has had too many queries is a trap: it gets its row, and its outcome at once. */
static int check_trap(storage *storage, batch_row *row, counters *counts)
{
    uint64_t queries;

    if (!row->path || row->url.kind == FRONTIER_OUTSIDE)
        return VIDI_OK;
    int error = db_path(storage->crawl->db, row->path, &queries);
    row->trapped = error == VIDI_OK && queries > storage->crawl->options.max_queries;
    if (error || !row->trapped)
        return error;
    db_outcome outcome = {.id = row->url.id,
                          .reason = "trap",
                          .error = "there are more queries on this path than --max-queries allows",
                          .date = crawl_date(storage->crawl)};
    return write_outcome(storage, &row->url, &outcome, counts);
}

static int write_rows(storage *storage, size_t up_to)
{
    batch *b = &storage->batch;
    int error = VIDI_OK;

    for (; b->rows_written < up_to && error == VIDI_OK; b->rows_written++) {
        batch_row *row = &b->rows[b->rows_written];
        bool has_url = row->is_turn || !row->due;
        storage->pending.urls += has_url;
        if (has_url)
            error = frontier_add(db_frontier(storage->crawl->db), &row->url);
        if (error == VIDI_OK && storage->crawl->fleet)
            error = shared_note_far(storage, row);
        if (error == VIDI_OK)
            error = row->due ? db_schedule_due(storage->crawl->db, row->url.page, row->due, row->visit)
                             : check_trap(storage, row, &storage->pending);
        if (row->trapped) /* it is in a block all the same */
            storage->filter_until = row->url.id;
    }
    return error;
}

static int write_outcomes(storage *storage, counters *counts)
{
    int error = VIDI_OK;
    char name[ARCHIVE_NAME_ROOM];

    for (message *one = storage->batch.fetch_jobs.first; one && error == VIDI_OK; one = one->next) {
        fetch_job *page = (fetch_job *)one;
        db_outcome row = outcome_of(page, name);
        error = write_outcome(storage, &page->url, &row, counts);
        for (const cookie_change *set = page->cookies; set && error == VIDI_OK; set = set->next)
            error = db_cookie_write(storage->crawl->db, &set->row);
    }
    return error;
}

static int write_counts(storage *storage)
{
    batch *b = &storage->batch;
    int error = VIDI_OK;

    for (size_t i = 0; i < HARVEST_SKIPS && error == VIDI_OK; i++)
        if (b->skipped[i] > 0)
            error = db_skip(storage->crawl->db, harvest_skip_name((harvest_skip)i), b->skipped[i]);
    for (size_t i = 0; i < b->drop_count && error == VIDI_OK; i++)
        error = frontier_drop(db_frontier(storage->crawl->db), b->drops[i].level, b->drops[i].host, b->drops[i].number);
    return error;
}

static int write_edges(storage *storage)
{
    batch *b = &storage->batch;
    int error = VIDI_OK;

    if (!storage->crawl->targets)
        return VIDI_OK;
    for (size_t i = 0; i < b->link_count && error == VIDI_OK; i++) {
        const batch_link *from = &b->links[i];
        if (!from->page)
            continue;
        error = db_edge(storage->crawl->db, b->targets[i], from->page->url.id, link_text(from->link));
    }
    return error;
}

/* Updates the row of a host: its pages, and the news from the fetcher (NULL: none). */
static int write_host(storage *storage, uint64_t id, const host_info *news)
{
    crawl_db *db = storage->crawl->db;
    const host_entry *host = host_table_find(storage, id);
    db_host row = {.id = id, .robots_outcome = -1};
    bytes origin = {0};
    int error = db_host_read(db, id, &row);

    if (error == VIDI_EABSENT) {
        row = (db_host){.id = id, .robots_outcome = -1};
        row.origin =
            news ? (vidi_str){news->origin.ptr, news->origin.len - 1} : (vidi_str){host->origin, strlen(host->origin)};
        error = VIDI_OK;
    }
    /* What was read is in the database's memory, which the next call takes back. */
    if (error == VIDI_OK)
        error = bytes_append_str(&origin, row.origin);
    row.origin = bytes_str(&origin);
    row.robots = (vidi_str){0}; /* stays as it is */
    row.parked = news && *news->parked ? news->parked : NULL;
    if (host)
        row.pages = host->pages;
    if (news && news->has_robots) {
        row.robots_outcome = news->robots_outcome;
        row.robots_date = news->robots_date;
        row.robots_reached = news->robots_reached;
        row.robots = news->robots.len ? bytes_str(&news->robots) : (vidi_str){"", 0};
    }
    if (news && news->not_before)
        row.not_before = news->not_before;
    if (error == VIDI_OK)
        error = db_host_write(db, &row);
    bytes_free(&origin);
    return error;
}

static int write_hosts(storage *storage)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < storage->hosts.count && error == VIDI_OK; i++) {
        const host_entry *host = storage->list[i];
        if (host->origin && (!host->has_row || host->unparked))
            error = write_host(storage, host->id, NULL);
        else if (host->changed && host->has_row)
            error = db_host_pages(storage->crawl->db, host->id, host->pages);
    }
    for (message *one = storage->batch.host_infos.first; one && error == VIDI_OK; one = one->next)
        error = write_host(storage, ((host_info *)one)->host, (host_info *)one);
    return error;
}

/* Begins the transaction, and writes again what was in it before it was rolled back. */
static int begin_transaction(storage *storage)
{
    crawl *c = storage->crawl;
    batch *b = &storage->batch;

    if (b->is_open)
        return VIDI_OK;
    if (batch_is_empty(b))
        b->began = storage_now();
    b->rows_written = 0;
    b->lines.len = b->lines_written ? b->lines.len : 0;
    storage->pending = storage->counts;
    int error = db_begin(c->db);
    for (size_t i = 0; i < b->sort_count && error == VIDI_OK; i++) {
        error = write_rows(storage, b->sorts[i]);
        if (error == VIDI_OK)
            error = frontier_sort(db_frontier(c->db), SORTED);
    }
    b->is_open = error == VIDI_OK;
    return error;
}

static int sort_rows(storage *storage)
{
    batch *b = &storage->batch;

    if (list_reserve(&b->sorts, &b->sort_room, b->sort_count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    int error = frontier_sort(db_frontier(storage->crawl->db), SORTED);
    if (error)
        return error;
    b->sorts[b->sort_count++] = b->rows_written;
    host_table_sorted(storage);
    return VIDI_OK;
}

/* The rows that are not written yet, and blocks of them if somebody waits for some. */
static int write_new_rows(storage *storage)
{
    batch *b = &storage->batch;
    int error = begin_transaction(storage);

    if (error == VIDI_OK)
        error = write_rows(storage, b->row_count);
    return error == VIDI_OK && storage->sort_helps ? sort_rows(storage) : error;
}

static void roll_back(storage *storage)
{
    storage->batch.is_open = false;
    storage->continuous.stale = true;
    storage->shared.far_known = false;
    db_rollback(storage->crawl->db);
}

static int write_counters(storage *storage)
{
    counters *counts = &storage->pending;

    counts->synced_to = storage->crawl->synced_to;
    return counters_write(storage->crawl, counts, storage->has_stats ? &storage->stats : NULL);
}

/* New rows alone, and what follows from them. */
static int write_rows_only(storage *storage)
{
    int error = write_new_rows(storage);

    if (error == VIDI_OK)
        error = write_lines(storage); /* of traps */
    if (error == VIDI_OK)
        error = shared_write_untold(storage, false);
    if (error == VIDI_OK)
        error = write_counters(storage);
    return error ? error : db_commit(storage->crawl->db);
}

static int write_all(storage *storage)
{
    crawl *c = storage->crawl;
    int error = write_new_rows(storage);

    if (error == VIDI_OK)
        error = write_outcomes(storage, &storage->pending);
    if (error == VIDI_OK)
        error = write_lines(storage);
    if (error == VIDI_OK)
        error = write_counts(storage);
    if (error == VIDI_OK)
        error = write_edges(storage);
    if (error == VIDI_OK)
        error = link_check_write(storage);
    if (error == VIDI_OK)
        error = site_links_write(storage);
    if (error == VIDI_OK)
        error = write_hosts(storage);
    if (error == VIDI_OK)
        error = payloads_write(storage);
    if (error == VIDI_OK && c->fleet)
        error = shared_write_untold(storage, true);
    if (error == VIDI_OK)
        error = write_counters(storage);
    return error ? error : db_commit(c->db);
}

static int write_transaction(storage *storage, int (*write)(struct storage *storage))
{
    crawl *c = storage->crawl;
    int error = VIDI_EBUSY;

    for (int tries = 0; tries < TRIES && may_pass(error); tries++) {
        if (tries > 0)
            wait_a_moment();
        error = write(storage);
        if (error && tries + 1 < TRIES && may_pass(error))
            roll_back(storage);
    }
    if (error) {
        if (storage->batch.lines_failed)
            storage_failed(storage, error, "cannot write the lines of --jsonl", strerrordesc_np(c->output.file.failed));
        else if (error == VIDI_EDIFFERS)
            storage_failed(storage, error, "cannot go on with --jsonl", c->output.file.why);
        else
            storage_failed(storage, error, "cannot write the database", db_error(c->db));
        roll_back(storage);
        return error;
    }
    storage->counts = storage->pending;
    storage->has_stats = false;
    payloads_conclude(storage);
    return VIDI_OK;
}

/* ---- the whole ---- */

/* Counts the pages of hosts, and takes the URLs out of their blocks. */
static int settle(storage *storage)
{
    int error = VIDI_OK;

    for (message *one = storage->batch.fetch_jobs.first; one && error == VIDI_OK; one = one->next) {
        const fetch_job *page = (fetch_job *)one;
        host_entry *host = host_table_find(storage, page->url.host);
        error = host_table_settle(storage, page);
        if (host && page->status != 0) {
            host->pages++;
            host->changed = true;
        }
    }
    return error;
}

/* The links that have come since the last call go through the set. */
static int ask_set(storage *storage)
{
    int error = batch_ask_set(storage);

    return error ? storage_failed(storage, error, "cannot add to the seen-set",
                                  error == VIDI_EMEMORY ? NULL : vidi_message())
                 : VIDI_OK;
}

/* What is true now that the transaction is through. */
static void conclude(storage *storage)
{
    crawl *c = storage->crawl;
    batch *b = &storage->batch;
    size_t messages = b->fetch_jobs.count + b->host_infos.count, weight = 0, fetch_jobs = b->fetch_jobs.count;

    c->committed_to = frontier_last(db_frontier(c->db));
    for (size_t i = 0; i < storage->hosts.count; i++) {
        host_entry *host = storage->list[i];
        host->has_row = host->has_row || host->origin;
        host->changed = host->unparked = false;
    }
    for (message *one = b->fetch_jobs.first; one; one = one->next) {
        weight += ((fetch_job *)one)->weight;
        host_table_done(storage, (fetch_job *)one);
        continuous_done(storage, (fetch_job *)one);
    }
    counters_show(c, &storage->counts);
    pthread_mutex_lock(&c->about);
    c->progress.links += b->link_count;
    c->progress.links_new += b->row_count;
    pthread_mutex_unlock(&c->about);
    storage->unsynced = storage->unsynced || b->row_count > 0;
    storage->handled += messages;
    batch_clear(b);
    atomic_fetch_sub(&c->weight, weight);
    atomic_fetch_sub(&c->fetch_jobs, fetch_jobs);
    if (fetch_jobs > 0)
        fetch_wake(c->downloader); /* the fetcher may be waiting for a commit */
}

int storage_prepare(storage *storage)
{
    int error = ask_set(storage);

    if (error)
        return error;
    error = write_new_rows(storage);
    if (may_pass(error)) { /* the commit will try again, and wait if it must */
        roll_back(storage);
        return storage_commit(storage);
    }
    return error ? storage_failed(storage, error, "cannot write the database", db_error(storage->crawl->db)) : VIDI_OK;
}

int storage_commit_rows(storage *storage)
{
    crawl *c = storage->crawl;
    batch *b = &storage->batch;
    uint64_t mark = 0;
    int error = shared_remember(storage);

    if (error == VIDI_OK)
        error = vidi_mark(c->set, &mark);
    if (error)
        return storage_failed(storage, error, "cannot add to the seen-set", vidi_message());
    error = write_transaction(storage, write_rows_only);
    if (error)
        return error;
    error = consistency_commit(c, mark, frontier_last(db_frontier(c->db)));
    if (error)
        return storage_failed(storage, error, "cannot commit to the seen-set", vidi_message());
    c->committed_to = frontier_last(db_frontier(c->db));
    counters_show(c, &storage->counts);
    storage->unsynced = true;
    error = shared_committed(storage, false);
    pthread_mutex_lock(&c->about);
    c->progress.links_new += b->row_count;
    pthread_mutex_unlock(&c->about);
    batch_clear_rows(b);
    b->lines.len = 0;
    b->lines_written = b->lines_synced = false;
    return error;
}

int storage_commit(storage *storage)
{
    crawl *c = storage->crawl;
    uint64_t mark = 0;
    int error = ask_set(storage);

    if (error)
        return error;
    error = vidi_mark(c->set, &mark);
    if (error)
        return storage_failed(storage, error, "cannot add to the seen-set", vidi_message());
    error = store(storage);
    if (error)
        return error;
    if (settle(storage) != VIDI_OK)
        return storage_failed(storage, VIDI_EMEMORY, "cannot commit", NULL);
    error = write_transaction(storage, write_all);
    if (error)
        return error;
    error = consistency_commit(c, mark, frontier_last(db_frontier(c->db)));
    if (error)
        return storage_failed(storage, error, "cannot commit to the seen-set", vidi_message());
    if (c->fleet && (error = shared_committed(storage, true)) != VIDI_OK)
        return error;
    if (site_links_committed(storage) != VIDI_OK)
        return storage_failed(storage, VIDI_EMEMORY, "cannot commit", NULL);
    conclude(storage);
    return VIDI_OK;
}

int storage_sync(storage *storage)
{
    crawl *c = storage->crawl;
    int error = vidi_sync(c->set);

    if (error)
        return storage_failed(storage, error, "cannot sync the seen-set", vidi_message());
    c->synced_to = c->committed_to;
    storage->unsynced = false;
    storage->synced_at = storage_now();
    storage->stats.size = sizeof storage->stats;
    storage->has_stats = vidi_stat(c->set, &storage->stats) == VIDI_OK;
    if (c->fleet && (error = shared_stat(storage)) != VIDI_OK)
        return error;
    if (storage->has_stats) {
        pthread_mutex_lock(&c->about);
        c->progress.expected_lost = storage->stats.expected_lost;
        pthread_mutex_unlock(&c->about);
    }
    return VIDI_OK;
}
