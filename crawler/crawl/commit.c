/*
 * Committing a batch: see crawl.h for the order. Until the transaction is through, nothing else is added to the set:
 * URLs that it calls seen although no row has them would be lost. If a transaction fails for good, the set is closed
 * without a commit, and those URLs are new again.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "crawler/crawl/keeper.h"

enum {
    TRIES = 50,      /* of a write that fails because a disk is full or somebody holds a lock, */
    TRY_EVERY = 100, /* milliseconds apart */
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

static int failed(keeper *of, int error, const char *what, const char *said)
{
    crawl_fail(of->crawl, "%s: %s", what, said && *said ? said : vidi_strerror(error));
    return error;
}

/* ---- archive and output file ---- */

static int store_page(crawl *of, errand *page)
{
    int error = VIDI_OK;

    if (!page->harvested || page->harvest.records.len == 0)
        return VIDI_OK;
    for (int tries = 0; tries < TRIES; tries++) {
        error = archive_write(of->archive, bytes_str(&page->harvest.records), &page->file, &page->offset);
        if (!may_pass(error))
            break;
        wait_a_moment();
    }
    page->stored = error == VIDI_OK;
    return error;
}

static int store(keeper *of)
{
    crawl *c = of->crawl;
    int error = VIDI_OK;

    if (!c->archive)
        return VIDI_OK;
    for (parcel *one = of->batch.errands.first; one && error == VIDI_OK; one = one->next)
        error = store_page(c, (errand *)one);
    for (int tries = 0; error == VIDI_OK && tries < TRIES; tries++) {
        error = archive_sync(c->archive);
        if (!may_pass(error))
            break;
        wait_a_moment();
        error = tries + 1 < TRIES ? VIDI_OK : error;
    }
    return error ? failed(of, error, "cannot write the archive", archive_error(c->archive)) : VIDI_OK;
}

static int append_line(keeper *of, const frontier_url *url, const ledger_outcome *row)
{
    crawl *c = of->crawl;
    bytes referrer = {0};
    crawl_outcome told = {.url = url->url, .depth = url->depth, .kind = url->kind, .row = *row};
    int error = url->referrer ? frontier_text(ledger_frontier(c->ledger), url->referrer, &referrer) : VIDI_OK;

    if (error == VIDI_EABSENT)
        error = VIDI_OK;
    told.referrer = bytes_str(&referrer);
    if (error == VIDI_OK)
        error = c->options.line(c->options.line_context, &told, &of->batch.lines);
    bytes_free(&referrer);
    return error;
}

static bool wants_lines(const keeper *of)
{
    return output_is_open(&of->crawl->output) && of->crawl->options.line && !of->batch.lines_written;
}

/* Writes and syncs the lines, each once, however often the transaction is tried. */
static int write_lines(keeper *of)
{
    batch *b = &of->batch;
    output *to = &of->crawl->output;
    int error = VIDI_OK;

    if (wants_lines(of) && b->lines.len > 0) {
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

static ledger_outcome outcome_of(const errand *page, char *name)
{
    const harvest *h = &page->harvest;
    ledger_outcome row = {.id = page->url.id,
                          .status = page->status,
                          .reason = page->reason,
                          .error = *page->error ? page->error : NULL,
                          .bytes = page->body_bytes,
                          .date = page->date,
                          .seconds = (double)page->took_us / 1e6};

    if (page->harvested) {
        row.type = (vidi_str){h->type, strlen(h->type)};
        row.digest = *h->digest ? h->digest : NULL;
        row.redirect = h->redirect;
        row.links = h->found;
        if (!row.error && *h->problem)
            row.error = h->problem;
    }
    if (page->stored) {
        row.file = archive_name(page->file, name);
        row.offset = page->offset;
        row.length = h->response_length;
    }
    return row;
}

static int write_outcome(keeper *of, const frontier_url *url, const ledger_outcome *row, tallies *counts)
{
    int error = ledger_outcome_add(of->crawl->ledger, row);

    if (error == VIDI_EEXIST)
        return VIDI_OK;
    if (error)
        return error;
    counts->outcomes++;
    counts->bytes += row->bytes;
    counts->pages += row->status != 0;
    counts->errors += row->reason != NULL;
    counts->seeds_fetched += !row->reason && url->kind == FRONTIER_SEED;
    return wants_lines(of) ? append_line(of, url, row) : VIDI_OK;
}

/* A URL behind too many queries on its path is a trap: it has its row, and its outcome at once. */
static int check_trap(keeper *of, batch_row *row, tallies *counts)
{
    uint64_t queries;

    if (!row->path || row->url.kind == FRONTIER_OUTSIDE)
        return VIDI_OK;
    int error = ledger_path(of->crawl->ledger, row->path, &queries);
    row->trapped = error == VIDI_OK && queries > of->crawl->options.max_queries;
    if (error || !row->trapped)
        return error;
    ledger_outcome outcome = {.id = row->url.id,
                              .reason = "trap",
                              .error = "there are more queries on this path than --max-queries allows",
                              .date = crawl_date(of->crawl)};
    return write_outcome(of, &row->url, &outcome, counts);
}

static int write_rows(keeper *of, tallies *counts)
{
    batch *b = &of->batch;
    int error = VIDI_OK;

    for (size_t i = 0; i < b->row_count && error == VIDI_OK; i++) {
        error = frontier_add(ledger_frontier(of->crawl->ledger), &b->rows[i].url);
        counts->urls++;
        if (error == VIDI_OK)
            error = check_trap(of, &b->rows[i], counts);
    }
    return error;
}

static int write_outcomes(keeper *of, tallies *counts)
{
    int error = VIDI_OK;
    char name[ARCHIVE_NAME_ROOM];

    for (parcel *one = of->batch.errands.first; one && error == VIDI_OK; one = one->next) {
        const errand *page = (errand *)one;
        ledger_outcome row = outcome_of(page, name);
        error = write_outcome(of, &page->url, &row, counts);
    }
    return error;
}

static int write_counts(keeper *of)
{
    batch *b = &of->batch;
    int error = VIDI_OK;

    for (size_t i = 0; i < HARVEST_SKIPS && error == VIDI_OK; i++)
        if (b->skipped[i] > 0)
            error = ledger_skip(of->crawl->ledger, harvest_skip_name((harvest_skip)i), b->skipped[i]);
    for (size_t i = 0; i < b->drop_count && error == VIDI_OK; i++)
        error =
            frontier_drop(ledger_frontier(of->crawl->ledger), b->drops[i].level, b->drops[i].host, b->drops[i].number);
    return error;
}

static int write_edges(keeper *of)
{
    batch *b = &of->batch;
    int error = VIDI_OK;

    if (!of->crawl->targets)
        return VIDI_OK;
    for (size_t i = 0; i < b->link_count && error == VIDI_OK; i++) {
        const batch_link *from = &b->links[i];
        if (!from->page)
            continue;
        vidi_str text = from->link->is_redirect ? (vidi_str){"(redirect)", 10} : from->link->text;
        error = ledger_edge(of->crawl->ledger, b->targets[i], from->page->url.id, text);
    }
    return error;
}

/* Brings the row of a host up to date: its pages, and what the spider has told about it. One of the two is there. */
static int write_host(keeper *of, uint64_t id, const card *news)
{
    ledger *book = of->crawl->ledger;
    const member *host = roster_find(of, id);
    ledger_host row = {.id = id, .robots_outcome = -1};
    bytes origin = {0};
    int error = ledger_host_read(book, id, &row);

    if (error == VIDI_EABSENT) {
        row = (ledger_host){.id = id, .robots_outcome = -1};
        row.origin =
            news ? (vidi_str){news->origin.ptr, news->origin.len - 1} : (vidi_str){host->origin, strlen(host->origin)};
        error = VIDI_OK;
    }
    /* What was read is in the ledger's memory, which the next call takes back. */
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
        error = ledger_host_write(book, &row);
    bytes_free(&origin);
    return error;
}

static int write_hosts(keeper *of)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < of->members.count && error == VIDI_OK; i++) {
        const member *host = of->list[i];
        if (host->origin && (!host->has_row || host->unparked))
            error = write_host(of, host->id, NULL);
        else if (host->changed && host->has_row)
            error = ledger_host_pages(of->crawl->ledger, host->id, host->pages);
    }
    for (parcel *one = of->batch.cards.first; one && error == VIDI_OK; one = one->next)
        error = write_host(of, ((card *)one)->host, (card *)one);
    return error;
}

static int write_all(keeper *of, tallies *counts)
{
    crawl *c = of->crawl;
    int error = ledger_begin(c->ledger);

    of->batch.lines.len = of->batch.lines_written ? of->batch.lines.len : 0;
    if (error == VIDI_OK)
        error = write_rows(of, counts);
    if (error == VIDI_OK)
        error = write_outcomes(of, counts);
    if (error == VIDI_OK)
        error = write_lines(of);
    if (error == VIDI_OK)
        error = write_counts(of);
    if (error == VIDI_OK)
        error = write_edges(of);
    if (error == VIDI_OK)
        error = write_hosts(of);
    if (error == VIDI_OK && of->sort_helps)
        error = frontier_sort(ledger_frontier(c->ledger), SORTED);
    if (error == VIDI_OK)
        error = tallies_write(c, counts, of->has_stats ? &of->stats : NULL);
    return error ? error : ledger_commit(c->ledger);
}

static int write_transaction(keeper *of)
{
    crawl *c = of->crawl;
    tallies counts;
    int error = VIDI_EBUSY;

    for (int tries = 0; tries < TRIES && may_pass(error); tries++) {
        if (tries > 0)
            wait_a_moment();
        counts = of->counts;
        counts.synced_to = c->synced_to;
        error = write_all(of, &counts);
        if (error && tries + 1 < TRIES && may_pass(error))
            ledger_rollback(c->ledger);
    }
    if (error) {
        if (of->batch.lines_failed)
            failed(of, error, "cannot write the lines of --jsonl", strerrordesc_np(c->output.file.failed));
        else if (error == VIDI_EDIFFERS)
            failed(of, error, "cannot go on with --jsonl", c->output.file.why);
        else
            failed(of, error, "cannot write the database", ledger_error(c->ledger));
        ledger_rollback(c->ledger);
        return error;
    }
    of->counts = counts;
    of->has_stats = false;
    return VIDI_OK;
}

/* ---- the whole ---- */

/* Counts the pages of hosts, and takes the URLs out of their blocks. */
static int settle(keeper *of)
{
    int error = VIDI_OK;

    for (parcel *one = of->batch.errands.first; one && error == VIDI_OK; one = one->next) {
        const errand *page = (errand *)one;
        member *host = roster_find(of, page->url.host);
        error = roster_settle(of, page);
        if (host && page->status != 0) {
            host->pages++;
            host->changed = true;
        }
    }
    return error;
}

static void note_rows(keeper *of)
{
    const batch *b = &of->batch;

    for (size_t i = 0; i < b->row_count; i++)
        roster_appended(of, b->rows[i].url.host);
}

/* What is true now that the transaction is through. */
static void conclude(keeper *of)
{
    crawl *c = of->crawl;
    batch *b = &of->batch;
    size_t parcels = b->errands.count + b->cards.count, weight = 0, errands = b->errands.count;

    for (size_t i = 0; i < b->row_count; i++)
        if (b->rows[i].trapped)
            of->filter_until = b->rows[i].url.id;
    if (b->row_count > 0)
        c->committed_to = b->rows[b->row_count - 1].url.id;
    for (size_t i = 0; i < of->members.count; i++) {
        member *host = of->list[i];
        host->has_row = host->has_row || host->origin;
        host->changed = host->unparked = false;
    }
    for (parcel *one = b->errands.first; one; one = one->next) {
        weight += ((errand *)one)->weight;
        roster_done(of, (errand *)one);
    }
    if (of->sort_helps)
        roster_sorted(of);
    tallies_show(c, &of->counts);
    pthread_mutex_lock(&c->about);
    c->progress.links += b->link_count;
    c->progress.links_new += b->row_count;
    pthread_mutex_unlock(&c->about);
    of->unsynced = of->unsynced || b->row_count > 0;
    of->handled += parcels;
    batch_clear(b);
    atomic_fetch_sub(&c->weight, weight);
    atomic_fetch_sub(&c->errands, errands);
    if (errands > 0)
        fetch_wake(c->fetcher); /* the spider may be waiting for a commit */
}

int keeper_commit(keeper *of)
{
    crawl *c = of->crawl;
    uint64_t mark = 0;
    int error = batch_ask_set(of);

    if (error == VIDI_OK)
        error = vidi_mark(c->set, &mark);
    if (error)
        return failed(of, error, "cannot add to the seen-set", error == VIDI_EMEMORY ? NULL : vidi_message());
    error = store(of);
    if (error)
        return error;
    if (settle(of) != VIDI_OK)
        return failed(of, VIDI_EMEMORY, "cannot commit", NULL);
    note_rows(of);
    error = write_transaction(of);
    if (error)
        return error;
    error = pair_commit(c, mark, frontier_last(ledger_frontier(c->ledger)));
    if (error)
        return failed(of, error, "cannot commit to the seen-set", vidi_message());
    conclude(of);
    return VIDI_OK;
}

int keeper_sync(keeper *of)
{
    crawl *c = of->crawl;
    int error = vidi_sync(c->set);

    if (error)
        return failed(of, error, "cannot sync the seen-set", vidi_message());
    c->synced_to = c->committed_to;
    of->unsynced = false;
    of->synced_at = keeper_now();
    of->stats.size = sizeof of->stats;
    of->has_stats = vidi_stat(c->set, &of->stats) == VIDI_OK;
    if (of->has_stats) {
        pthread_mutex_lock(&c->about);
        c->progress.expected_lost = of->stats.expected_lost;
        pthread_mutex_unlock(&c->about);
    }
    return VIDI_OK;
}
