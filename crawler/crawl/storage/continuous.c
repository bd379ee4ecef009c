/*
 * A continuous crawl: when the first visit is over, pages are fetched again one by one, as crawler/schedule says, within
 * a budget. A page whose turn has come gets a new row in the frontier, and everything else goes its usual way. Links are
 * asked of the set as always; a known page that a link leads to waits for its turn.
 *
 * When every page has had a turn, the visit is over, and the next one begins with new salts. So what the set has lost is
 * found later here, too.
 *
 * Budget: a bucket of tokens, one for each fetch, that holds at most a minute's. New pages take theirs first, and the
 * fetcher keeps the same pace, so that many new pages at once do not exceed it. With the rate budget + 1 - bucket there
 * are never more fetches in an hour than the budget.
 *
 * Hosts: the walk over the pages that are due passes over those of hosts that cannot take more now. A host that is
 * parked is asked again after an hour, and then after up to a day; meanwhile its pages lose their turns when they come,
 * so the visit ends.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "crawler/base/list.h"
#include "crawler/crawl/storage/storage.h"
#include "crawler/http/http.h"

enum {
    TURNS = 200,         /* pages that are written at a time */
    LOOKS = 1000,        /* pages that are looked at for that */
    MISSED = 2000,       /* pages that are given a row together */
    LOOK_EVERY = 250,    /* milliseconds until the next look, if no host can take more */
    SHOW_EVERY = 1000,   /* milliseconds of real time between two looks at the whole schedule */
    TURNS_OUT = 1000,    /* turns without an outcome */
    HOST_OUT = 20,       /* the same for one host: a slow one must not take the budget of the others */
    PUT_OFF = 60 * 1000, /* milliseconds at least that a page waits if its host has as many ... */
    PUT_OFF_PART = 16,   /* ... or this part of the time since its last visit */
    LEAST_BUDGET = 60,   /* pages an hour, if none is asked for */
    HOUR = 60 * 60 * 1000,
    DAY = 24 * HOUR,
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
    return self->count == MISSED ? 1 : 0;
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
    uint64_t after = 0;
    int more = 1, error = VIDI_OK;

    while (error == VIDI_OK && more == 1) {
        found.count = 0;
        more = db_schedule_missed(db, after, keep_missed, &found);
        after = found.count > 0 ? found.list[found.count - 1].row.page : after;
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

static double bucket_of(double budget)
{
    return budget > MINUTES ? budget / MINUTES : 1;
}

/* How many tokens come in an hour. */
static double rate_of(double budget)
{
    return budget + 1 - bucket_of(budget);
}

/* The fetcher's part of the budget. */
static void set_pace(crawl *c, double budget)
{
    double every = HOUR * 1000.0 / rate_of(budget);

    atomic_store(&c->pace_ahead_us, (long long)((bucket_of(budget) - 1) * every));
    atomic_store(&c->pace_us, (long long)ceil(every));
}

/* A seed that is not in the schedule, because it could not be fetched or is gone, gets a row in each visit. */
static int plant_seed(void *context, uint64_t id, vidi_str url)
{
    storage *storage = context;
    crawl *c = storage->crawl;
    frontier_url row = {.url = url, .kind = FRONTIER_SEED};
    db_prior prior = {0};
    bool scheduled = false;
    int error = visit_page_of(c, url, &row.page);

    (void)id;
    if (error == VIDI_OK)
        error = continuous_knows(storage, row.page, &scheduled);
    if (error || scheduled || row.page == 0)
        return error;
    error = db_prior_read(c->db, row.page, &prior);
    if (error == VIDI_OK)
        error = url_host_key(c->keys, url, &row.host);
    return error || prior.newest >= c->visit.first ? error : batch_turn(storage, &row);
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
    set_pace(c, self->budget);
    return error ? error : db_seeds(c->db, plant_seed, storage);
}

int continuous_begin(storage *storage)
{
    crawl *c = storage->crawl;
    int64_t visit = 0;
    int error = db_get(c->db, "continuous", &visit);

    storage->continuous.filled_at = crawl_now(c);
    storage->continuous.unpark_after = HOUR;
    storage->continuous.unpark_at = crawl_now(c) + HOUR;
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
    double most = bucket_of(self->budget);

    self->tokens += rate_of(self->budget) * (double)(now - self->filled_at) / HOUR;
    self->tokens = self->tokens < most ? self->tokens : most;
    self->filled_at = now;
}

/* By the clock: when a turn may be given; INT64_MAX: not before an outcome comes. */
static int64_t next_turn(const continuous *self)
{
    double wait = self->schedule ? (1 - self->tokens) * HOUR / rate_of(self->budget) : 0;

    if (!self->schedule || self->left == 0 || self->out >= TURNS_OUT)
        return INT64_MAX;
    if (wait <= 0)
        return self->look_at;
    return self->filled_at + (wait < HOUR ? (int64_t)wait + 1 : HOUR);
}

int64_t continuous_patience(const storage *storage)
{
    int64_t turn = next_turn(&storage->continuous), now = crawl_now(storage->crawl);

    return turn == INT64_MAX ? turn : turn > now ? turn - now : 0;
}

void continuous_tell(storage *storage)
{
    continuous *self = &storage->continuous;
    crawl *c = storage->crawl;

    if (self->schedule && storage_now() - self->shown_at >= SHOW_EVERY) {
        schedule_outlook seen = schedule_look(self->schedule);
        pthread_mutex_lock(&c->about);
        c->progress.scheduled = seen.pages;
        c->progress.fresh = seen.fresh;
        c->progress.age_days = seen.age;
        pthread_mutex_unlock(&c->about);
        self->shown_at = storage_now();
    }
    long long turn = next_turn(self);
    if (atomic_exchange(&c->next_turn, turn) != turn && c->clock.skip)
        fetch_wake(c->downloader); /* the clock may jump now */
}

static uintptr_t out_at(const continuous *self, uint64_t host)
{
    return (uintptr_t)id_map_get(&self->hosts, host);
}

static void count_turn(storage *storage, const db_scheduled *row)
{
    storage->continuous.left -= storage->continuous.left > 0 && row->taken < storage->crawl->visit.number;
}

/*
 * The host cannot take more: the page waits. If there are too many like it, it goes out of the way of the others for a
 * while. Never from a date that is still to come: it would move on with each look.
 */
static int pass_over(storage *storage, const db_scheduled *row)
{
    int64_t now = crawl_date(storage->crawl), wait = (now - row->visited) / PUT_OFF_PART;

    if (!storage->continuous.crowded || row->due > now)
        return VIDI_OK;
    return batch_delay(storage, row->page, now + (wait > PUT_OFF ? wait : PUT_OFF), 0);
}

/* The host is parked, so the page loses its turn. */
static int skip_turn(storage *storage, const db_scheduled *row)
{
    int64_t now = crawl_date(storage->crawl);

    if (row->due > now)
        return VIDI_OK;
    count_turn(storage, row);
    int64_t due =
        schedule_next_due(storage->continuous.schedule, row->rate, row->importance * row->alive, row->page, now);
    return batch_delay(storage, row->page, due, storage->crawl->visit.number);
}

/* A page is due. Not 0: no more now. */
static int consider(void *context, const frontier_url *url, const db_scheduled *row)
{
    storage *storage = context;
    continuous *self = &storage->continuous;
    uintptr_t out = out_at(self, url->host);
    int error;

    if (id_map_get(&storage->parked, url->host))
        error = skip_turn(storage, row);
    else if (out >= HOST_OUT)
        error = pass_over(storage, row);
    else {
        error = batch_turn(storage, url);
        if (error == VIDI_OK)
            error = id_map_put(&self->hosts, url->host, (void *)(out + 1));
        self->out++;
        self->tokens--;
        count_turn(storage, row);
    }
    bool enough = self->tokens < 1 || self->out >= TURNS_OUT || self->left == 0;
    return error ? error : enough || storage->batch.row_count - storage->batch.rows_written >= TURNS;
}

static int give_turns(storage *storage)
{
    continuous *self = &storage->continuous;
    int stopped = db_schedule_first(storage->crawl->db, LOOKS, consider, storage);

    if (stopped < 0)
        return stopped;
    self->crowded = !stopped && self->tokens >= 1;
    if (self->tokens >= 1)
        self->look_at = self->filled_at + LOOK_EVERY;
    return VIDI_OK;
}

/* Parked hosts may answer now. */
static void unpark(storage *storage)
{
    continuous *self = &storage->continuous;

    self->unpark_after = storage->parked.count == 0 ? HOUR : 2 * self->unpark_after;
    self->unpark_after = self->unpark_after < DAY ? self->unpark_after : DAY;
    for (size_t i = 0; i < storage->parked.room; i++)
        if (storage->parked.entries[i].id)
            self->out += out_at(self, storage->parked.entries[i].id);
    id_map_free(&storage->parked);
    storage->parked = (id_map){0};
    storage->more_hosts = true;
    self->unpark_at = crawl_now(storage->crawl) + self->unpark_after;
}

int continuous_feed(storage *storage)
{
    continuous *self = &storage->continuous;
    crawl *c = storage->crawl;
    int error = VIDI_OK;

    if (!self->schedule || crawl_ends(c) != ENDING_NOT)
        return VIDI_OK;
    if (self->stale) {
        error = storage_commit(storage); /* no transaction may be open */
        error = error ? error : load(storage);
    }
    fill_bucket(storage);
    if (self->filled_at >= self->unpark_at)
        unpark(storage);
    if (error == VIDI_OK && next_turn(self) <= self->filled_at)
        error = give_turns(storage);
    if (error == VIDI_OK && storage->batch.row_count > storage->batch.rows_written)
        error = self->left > 0 ? storage_prepare(storage) : storage_commit(storage); /* the visit may be over */
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

    if (self->schedule && self->left == 0) /* counts again to be sure */
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
    for (size_t i = 0; i < storage->hosts.count; i++)
        storage->list[i]->pages = 0; /* of this visit, as in the table */
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
    uintptr_t out = self->schedule && done->url.page ? out_at(self, done->url.host) : 0;

    self->tokens -= done->failures; /* they were fetches, too */
    if (out == 0)
        return;
    if (out == 1)
        id_map_remove(&self->hosts, done->url.host);
    else
        id_map_put(&self->hosts, done->url.host, (void *)(out - 1)); /* it has a place already */
    self->out--;
}

void continuous_park(storage *storage, uint64_t host)
{
    storage->continuous.out -= out_at(&storage->continuous, host);
}
