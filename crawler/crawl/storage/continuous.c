/*
 * A continuous crawl: when the first visit is over, pages are fetched again one by one, as crawler/schedule says, within
 * a budget. A page whose turn has come gets a new row in the frontier, and everything else goes its usual way. Links are
 * asked of the set as always; a known page that a link leads to waits for its turn.
 *
 * When every page has had a turn, the visit is over, and the next one begins with new salts. So what the set has lost is
 * found later here, too.
 *
 * Budget: a bucket of tokens, one for each fetch, that holds at most a minute's. New pages take theirs first.
 */
#include <stdlib.h>
#include <string.h>

#include "crawler/base/list.h"
#include "crawler/crawl/storage/storage.h"
#include "crawler/http/http.h"

enum {
    TURNS = 200,         /* most turns that are given at a time */
    TURNS_OUT = 1000,    /* turns without an outcome */
    HOST_OUT = 20,       /* the same for one host: a slow one must not take the budget of the others */
    PUT_OFF = 60 * 1000, /* milliseconds that a page waits if its host has as many */
    LEAST_BUDGET = 60,   /* pages an hour, if none is asked for */
    HOUR = 60 * 60 * 1000,
    MINUTES = 60 /* of an hour */
};

/* ---- rows of the schedule ---- */

static bool unpack(const db_scheduled *row, schedule_page *page)
{
    *page = (schedule_page){.importance = row->importance,
                            .key = row->page,
                            .rate = row->rate,
                            .alive = row->alive,
                            .visited = row->visited,
                            .due = row->due};
    return history_unpack(&page->history, row->history, row->history_bytes);
}

_Static_assert((int)HISTORY_PACKED <= (int)DB_HISTORY, "a history fits into its row");

static int write_page(storage *storage, const schedule_page *page, uint64_t taken)
{
    db_scheduled row = {.page = page->key,
                        .importance = page->importance,
                        .rate = page->rate,
                        .alive = page->alive,
                        .visited = page->visited,
                        .due = page->due,
                        .taken = taken};

    row.history_bytes = history_pack(&page->history, row.history);
    return db_schedule_write(storage->crawl->db, &row);
}

/* ---- beginning ---- */

static int load_one(void *context, const db_scheduled *row)
{
    continuous *self = context;
    schedule_page page;

    if (unpack(row, &page))
        schedule_load(self->schedule, &page);
    return 0;
}

/* Pages that wait for their row: the table cannot be written to while it is read. */
typedef struct missed {
    db_fetched *list;
    size_t count, room;
} missed;

static int keep_missed(void *context, const db_fetched *page)
{
    missed *self = context;

    if (list_reserve(&self->list, &self->room, self->count + 1) != VIDI_OK)
        return VIDI_EMEMORY;
    self->list[self->count++] = *page;
    return self->count == TURNS ? 1 : 0;
}

static int write_missed(storage *storage, const db_fetched *found)
{
    continuous *self = &storage->continuous;
    schedule_page page;
    page_visit visit = {.now = found->date, .previous_modified = -1, .modified = -1, .changed = found->changed};

    if (found->row.history_bytes && unpack(&found->row, &page)) {
        visit.previous = page.visited;
        schedule_visit(self->schedule, &page, &visit);
    } else {
        page = (schedule_page){.importance = 1, .key = found->row.page};
        schedule_enter(self->schedule, &page, found->date);
    }
    return write_page(storage, &page, found->row.taken);
}

/* Gives a row to each page that has none, or that an ordinary visit has fetched since. */
static int catch_up(storage *storage)
{
    crawl_db *db = storage->crawl->db;
    missed found = {0};
    int more = 1, error = VIDI_OK;

    while (error == VIDI_OK && more == 1) {
        found.count = 0;
        more = db_schedule_missed(db, keep_missed, &found);
        error = more < 0 ? more : db_begin(db);
        for (size_t i = 0; i < found.count && error == VIDI_OK; i++)
            error = write_missed(storage, &found.list[i]);
        if (error == VIDI_OK)
            error = db_commit(db);
        if (error)
            db_rollback(db);
    }
    free(found.list);
    return error;
}

static double budget_of(const storage *storage, uint64_t pages)
{
    double asked = storage->crawl->options.budget, daily = (double)pages / 24;

    return asked > 0 ? asked : daily > LEAST_BUDGET ? daily : LEAST_BUDGET;
}

/* Reads the schedule, or makes it: one pass over the pages. */
static int load(storage *storage)
{
    continuous *self = &storage->continuous;
    crawl *c = storage->crawl;
    uint64_t scheduled;
    int error = db_schedule_count(c->db, c->visit.number, &scheduled, &self->left);

    schedule_close(self->schedule);
    self->schedule = NULL;
    self->stale = false;
    self->budget = budget_of(storage, frontier_last(db_frontier(c->db)));
    if (error == VIDI_OK)
        error = schedule_open(&self->schedule, self->budget * 24);
    if (error == VIDI_OK)
        error = db_schedule_each(c->db, load_one, self);
    if (error == VIDI_OK && scheduled == 0)
        schedule_expect(self->schedule, frontier_last(db_frontier(c->db)));
    if (error == VIDI_OK)
        error = catch_up(storage);
    if (error == VIDI_OK)
        error = db_schedule_count(c->db, c->visit.number, &scheduled, &self->left);
    if (error == VIDI_OK)
        schedule_expect(self->schedule, 0);
    return error;
}

int continuous_begin(storage *storage)
{
    crawl *c = storage->crawl;
    int64_t visit = 0;
    int error = db_get(c->db, "continuous", &visit);

    if (error != VIDI_OK && error != VIDI_EABSENT)
        return error;
    return (uint64_t)visit == c->visit.number ? load(storage) : VIDI_OK;
}

void continuous_end(storage *storage)
{
    schedule_close(storage->continuous.schedule);
    id_map_free(&storage->continuous.hosts);
}

/* ---- giving turns ---- */

static void fill_bucket(storage *storage)
{
    continuous *self = &storage->continuous;
    int64_t now = crawl_now(storage->crawl);
    double most = self->budget / MINUTES > 1 ? self->budget / MINUTES : 1;

    self->tokens += self->budget * (double)(now - self->filled_at) / HOUR;
    self->tokens = self->tokens < most ? self->tokens : most;
    self->filled_at = now;
}

static int64_t wait_for_token(const continuous *self)
{
    double wait = self->tokens >= 1 ? 0 : (1 - self->tokens) * HOUR / self->budget;

    return wait < HOUR ? (int64_t)wait + 1 : HOUR;
}

int64_t continuous_patience(const storage *storage)
{
    const continuous *self = &storage->continuous;

    return self->schedule && self->left > 0 ? wait_for_token(self) : INT64_MAX;
}

static uintptr_t out_at(const continuous *self, uint64_t host)
{
    return (uintptr_t)id_map_get(&self->hosts, host);
}

/* A page is due: it gets its turn, or, if its host has enough of them, waits. */
static int give_turn(void *context, const frontier_url *url, uint64_t taken)
{
    storage *storage = context;
    continuous *self = &storage->continuous;
    uintptr_t out = out_at(self, url->host);

    if (out >= HOST_OUT)
        return batch_turn(storage, url, crawl_date(storage->crawl) + PUT_OFF);
    int error = batch_turn(storage, url, INT64_MAX);
    if (error == VIDI_OK)
        error = id_map_put(&self->hosts, url->host, (void *)(out + 1));
    self->out++;
    self->tokens--;
    self->left -= self->left > 0 && taken < storage->crawl->visit.number;
    return error;
}

int continuous_feed(storage *storage)
{
    continuous *self = &storage->continuous;
    crawl *c = storage->crawl;
    int error = VIDI_OK;

    if (!self->schedule || crawl_ends(c) != ENDING_NOT)
        return VIDI_OK;
    if (self->stale)
        error = load(storage);
    fill_bucket(storage);
    if (error == VIDI_OK && self->tokens >= 1 && self->out < TURNS_OUT && self->left > 0) {
        size_t most = self->tokens < TURNS ? (size_t)self->tokens : TURNS;
        error = db_schedule_first(c->db, most, give_turn, storage);
        if (error == VIDI_OK)
            error = storage_prepare(storage);
        self->tokens = self->tokens < 1 ? self->tokens : 0; /* all others wait for their hosts */
    }
    atomic_store(&c->next_turn, self->left > 0 ? self->filled_at + wait_for_token(self) : INT64_MAX);
    return error;
}

/* ---- the next visit ---- */

int continuous_idle(storage *storage)
{
    continuous *self = &storage->continuous;
    crawl *c = storage->crawl;
    uint64_t pages = 0;
    char why[CRAWL_WHY] = "";
    int error = VIDI_OK;

    if (self->schedule)
        error = db_schedule_count(c->db, c->visit.number, &pages, &self->left);
    if (error || self->left > 0)
        return error;
    if (self->schedule && pages == 0) { /* nothing has ever been fetched */
        crawl_end_as(c, ENDING_DONE);
        return VIDI_OK;
    }
    error = storage_sync(storage);
    if (error == VIDI_OK)
        error = visit_begin_next(c, &storage->counts, why);
    if (error) {
        crawl_fail(c, "the next visit cannot begin: %s", why);
        return error;
    }
    counters_show(c, &storage->counts);
    id_map_free(&storage->parked); /* they may answer now */
    storage->parked = (id_map){0};
    id_map_free(&self->hosts);
    self->hosts = (id_map){0};
    self->out = 0;
    self->filled_at = crawl_now(c);
    return load(storage);
}

/* ---- outcomes ---- */

int continuous_knows(storage *storage, uint64_t page, bool *scheduled)
{
    db_scheduled row;
    int error = storage->continuous.schedule && page ? db_schedule_read(storage->crawl->db, page, &row) : VIDI_EABSENT;

    *scheduled = error == VIDI_OK;
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

static int64_t date_of(vidi_str text)
{
    return text.ptr && text.len ? http_date(text) : -1;
}

static int visit_page(storage *storage, schedule_page *page, const db_outcome *row, const db_prior *prior)
{
    page_visit visit = {.previous = page->visited,
                        .now = row->date > page->visited ? row->date : page->visited + 1,
                        .previous_modified = date_of(prior->modified),
                        .modified = date_of(row->modified),
                        .changed = row->change == DB_CHANGED || row->change == DB_MOVED || row->change == DB_BACK};

    schedule_visit(storage->continuous.schedule, page, &visit);
    return write_page(storage, page, storage->crawl->visit.number);
}

int continuous_note(storage *storage, const frontier_url *url, const db_outcome *row, const db_prior *prior)
{
    continuous *self = &storage->continuous;
    db_scheduled known;
    schedule_page page = {.importance = 1, .key = prior->page};
    bool is_gone = row->status == 404 || row->status == 410;

    if (!self->schedule || !prior->page || url->kind == FRONTIER_OUTSIDE)
        return VIDI_OK;
    int error = db_schedule_read(storage->crawl->db, prior->page, &known);
    bool found = error == VIDI_OK && unpack(&known, &page);
    if (error && error != VIDI_EABSENT)
        return error;
    if (row->change == DB_FAILED) { /* that says nothing about the page */
        page.due = schedule_next_due(self->schedule, page.rate, page.importance * page.alive, page.key, row->date);
        return found ? write_page(storage, &page, storage->crawl->visit.number) : VIDI_OK;
    }
    if (found && is_gone) {
        schedule_leave(self->schedule, &page);
        return db_schedule_remove(storage->crawl->db, prior->page);
    }
    if (found)
        return visit_page(storage, &page, row, prior);
    if (is_gone)
        return VIDI_OK;
    schedule_enter(self->schedule, &page, row->date);
    return write_page(storage, &page, storage->crawl->visit.number);
}

void continuous_done(storage *storage, const fetch_job *done)
{
    continuous *self = &storage->continuous;
    uintptr_t out = self->schedule ? out_at(self, done->url.host) : 0;

    if (out == 0)
        return;
    if (out == 1)
        id_map_remove(&self->hosts, done->url.host);
    else
        id_map_put(&self->hosts, done->url.host, (void *)(out - 1)); /* it has a place already */
    self->out--;
}
