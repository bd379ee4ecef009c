/*
 * Which hosts this process may fetch from in a crawl of a fleet: see storage.h, and fleet/members/members.h for who owns
 * a site, and when.
 *
 *   a host is found in the frontier   it is admitted to the fetcher if its site is ours and everybody has agreed to that
 *   the table of members changes      the fetcher gives back hosts that are somebody else's now; when it has, we agree
 *   URLs of sites that are not ours   go to their owners, a few in each round, and get the outcome "elsewhere"
 *   the lease is lost                 the fetcher gives back everything, and this process joins again
 *
 * A host that was another's a moment ago gets its first request one delay after it was admitted: the other one may have
 * ended its last request just before it agreed.
 */
#include <inttypes.h>

#include "crawler/crawl/storage/storage.h"
#include "crawler/politeness/politeness.h"

enum {
    BARRED = 250,      /* milliseconds until hosts that must not be fetched from are looked at again */
    SETTLES = 15000,   /* milliseconds after which a site that nobody was seen to wait for has come to rest */
    SCANNED = 1000,    /* hosts that are looked at in a round */
    LONG_AGO = 1 << 30 /* milliseconds */
};

static frontier *frontier_of(const storage *storage)
{
    return db_frontier(storage->crawl->db);
}

/* ---- who may be fetched from ---- */

void shared_begin_hosts(storage *storage)
{
    shared *self = &storage->shared;
    int64_t now = storage_now();

    /* The first member of all cannot be in anybody's way. */
    self->changed_at = fleet_version(storage->crawl->fleet) > 1 ? now : now - LONG_AGO;
    self->scans = true;
}

/* The site of a host that has blocks on this level. VIDI_EABSENT: it has none. */
static int site_of(storage *storage, uint32_t level, uint64_t host, uint64_t *site)
{
    int error = frontier_take(frontier_of(storage), level, host, 0, &storage->block);

    if (error == VIDI_OK && storage->block.count == 0)
        error = VIDI_EABSENT;
    if (error == VIDI_OK)
        *site = fleet_site(storage->crawl->fleet, storage->block.urls[0].url);
    return error;
}

int shared_admits(storage *storage, uint32_t level, uint64_t host, bool *admitted)
{
    shared *self = &storage->shared;
    const struct fleet *fleet = storage->crawl->fleet;

    *admitted = false;
    if (id_map_get(&self->barred, host))
        return VIDI_OK;
    int error = site_of(storage, level, host, &self->site);
    if (error)
        return error == VIDI_EABSENT ? VIDI_OK : error;
    *admitted = fleet_may_fetch(fleet, self->site);
    if (*admitted)
        return VIDI_OK;
    if (fleet_is_mine(fleet, self->site))
        self->changed_at = storage_now();
    else
        self->rescans = true;
    if (self->barred.count == 0)
        self->barred_until = storage_now() + BARRED;
    return id_map_put(&self->barred, host, storage);
}

int64_t shared_wait(const storage *storage)
{
    int64_t delay = storage->crawl->options.delay, passed = storage_now() - storage->shared.changed_at;

    if (delay < 0)
        delay = POLITE_FACTOR_TOP; /* nobody knows how long the others' responses took */
    return passed < SETTLES + delay ? delay : 0;
}

static void unbar(storage *storage)
{
    shared *self = &storage->shared;

    if (self->barred.count == 0 || storage_now() < self->barred_until)
        return;
    id_map_clear(&self->barred);
    storage->more_hosts = true;
}

/* ---- hosts that were lost ---- */

/* Lets the fetcher give the host back. */
static int lose(storage *storage, host_entry *host)
{
    host_request *told;

    if (host->lost)
        return VIDI_OK;
    host->lost = true;
    host->wanted = 0;
    if (host->leaving)
        return VIDI_OK;
    told = host_request_make(MESSAGE_HOST_LOST, host->id, 0);
    if (!told)
        return VIDI_EMEMORY;
    storage->shared.lost++;
    messages_add(&storage->to_fetcher, &told->message);
    return VIDI_OK;
}

static int lose_hosts(storage *storage, bool all)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < storage->hosts.count && error == VIDI_OK; i++)
        if (all || !fleet_may_fetch(storage->crawl->fleet, storage->list[i]->site))
            error = lose(storage, storage->list[i]);
    return error;
}

void shared_host_left(storage *storage, host_entry *host)
{
    if (host->lost && !host->leaving)
        storage->shared.lost--;
}

void shared_host_forgotten(storage *storage, const host_entry *host)
{
    if (host->lost)
        storage->shared.rescans = true; /* what it has on disk */
}

/* ---- URLs that belong to others ---- */

/* Hands over a block; VIDI_EBUSY: later. */
static int hand_over_block(storage *storage, const frontier_block *block)
{
    size_t count = 0;
    int error = VIDI_OK;

    for (size_t i = 0; i < block->count && error == VIDI_OK; i++)
        error = shared_list(storage, &block->urls[i], &count);
    if (error == VIDI_OK && count > 0)
        error = fleet_hand_over(storage->crawl->fleet, shared_listed(storage, count), count);
    if (error && error != VIDI_EBUSY)
        storage_failed(storage, error, "cannot hand pages over", fleet_why(storage->crawl->fleet));
    for (size_t i = 0; i < block->count && error == VIDI_OK; i++)
        error = shared_elsewhere(storage, &block->urls[i], block);
    return error ? error : batch_drop_block(storage, block->host, block->level, block->number);
}

/* *over: there are no more blocks. VIDI_EBUSY: later. */
static int hand_over_host(storage *storage, uint32_t level, uint64_t host, bool *over)
{
    shared *self = &storage->shared;
    frontier_block *block = &storage->block;

    *over = false;
    while (storage->batch.fetch_jobs.count < CRAWL_BATCH) {
        int error = frontier_take(frontier_of(storage), level, host, self->scan_after, block);
        if (error == VIDI_EABSENT) {
            *over = true;
            return VIDI_OK;
        }
        if (error == VIDI_OK)
            error = host_table_filter(storage, block);
        if (error == VIDI_OK)
            error = hand_over_block(storage, block);
        if (error)
            return error;
        self->scan_after = block->number;
        self->handed_over = true;
    }
    return VIDI_OK;
}

/* The next host of the scan. VIDI_EABSENT: there are no more. */
static int next_of_scan(storage *storage, uint64_t *host)
{
    shared *self = &storage->shared;
    int error = frontier_host(frontier_of(storage), self->scan_level, self->scan_host, host);

    while (error == VIDI_EABSENT) {
        error = frontier_next_level(frontier_of(storage), self->scan_level, &self->scan_level);
        if (error || self->scan_level >= FRONTIER_WAITING) /* these have no hosts yet */
            return error ? error : VIDI_EABSENT;
        self->scan_host = 0;
        error = frontier_host(frontier_of(storage), self->scan_level, 0, host);
    }
    return error;
}

static int scan_host(storage *storage, uint64_t host)
{
    shared *self = &storage->shared;
    uint64_t site;
    bool over = true;
    int error = VIDI_OK;

    if (self->scan_after == 0) {
        if (host_table_find(storage, host))
            site = 0;
        else if ((error = site_of(storage, self->scan_level, host, &site)) != VIDI_OK)
            return error == VIDI_EABSENT ? VIDI_OK : error;
        if (host_table_find(storage, host) || fleet_is_mine(storage->crawl->fleet, site)) {
            self->scan_host = host + 1;
            return VIDI_OK;
        }
    }
    error = hand_over_host(storage, self->scan_level, host, &over);
    self->scan_host = over ? host + 1 : host;
    self->scan_after = over ? 0 : self->scan_after;
    return error;
}

/* A scan begins when the blocks of the one before are gone. */
static bool may_scan(const shared *self)
{
    return self->scans || (self->rescans && !self->handed_over);
}

static void begin_scan(storage *storage)
{
    shared *self = &storage->shared;

    self->scans = true;
    self->rescans = false;
    self->scan_level = 0;
    self->scan_host = self->scan_after = 0;
    storage->sort_helps = storage->sort_helps || frontier_unsorted(frontier_of(storage)) > 0;
}

static int scan(storage *storage)
{
    shared *self = &storage->shared;
    uint64_t host;
    int error = VIDI_OK;

    if (!may_scan(self))
        return VIDI_OK;
    if (!self->scans)
        begin_scan(storage);
    for (int i = 0; i < SCANNED && error == VIDI_OK && storage->batch.fetch_jobs.count < CRAWL_BATCH; i++) {
        error = next_of_scan(storage, &host);
        if (error == VIDI_OK)
            error = scan_host(storage, host);
    }
    self->scans = error != VIDI_EABSENT;
    if (error == VIDI_EBUSY) /* another process cannot take them before we have taken what it has sent */
        return shared_make_way(storage);
    return error == VIDI_EABSENT ? VIDI_OK : error;
}

/* ---- the table of members ---- */

static int look_at_version(storage *storage)
{
    shared *self = &storage->shared;
    uint64_t version = fleet_version(storage->crawl->fleet);

    if (version != self->version) {
        if (self->version > 0)
            self->changed_at = storage_now();
        self->version = version;
        self->adopts = self->rescans = true;
        id_map_clear(&self->barred);
        storage->more_hosts = true;
        int error = lose_hosts(storage, false);
        if (error)
            return error;
    }
    if (self->adopts && self->lost == 0) {
        self->adopts = false;
        fleet_adopt(storage->crawl->fleet, self->version);
    }
    return VIDI_OK;
}

bool shared_is_out(const storage *storage)
{
    return storage->shared.out || fleet_is_out(storage->crawl->fleet);
}

/* The lease is lost: when nothing is being fetched any more, this process joins again. */
static int look_while_out(storage *storage)
{
    shared *self = &storage->shared;
    crawl *c = storage->crawl;

    if (!self->out) {
        self->out = true;
        crawl_warn(c, "this process was cut off from its fleet: what it was fetching is left to the others");
        int error = lose_hosts(storage, true);
        if (error)
            return error;
    }
    if (self->lost > 0)
        return VIDI_OK;
    int error = fleet_rejoin(c->fleet);
    if (error)
        return storage_failed(storage, error, "cannot join the fleet again", fleet_why(c->fleet));
    self->out = false;
    self->version = 0;
    self->changed_at = storage_now();
    return look_at_version(storage);
}

static void look_at_state(storage *storage)
{
    shared *self = &storage->shared;
    crawl *c = storage->crawl;
    int state = (int)fleet_state_now(c->fleet);

    if (state == self->state)
        return;
    self->state = state;
    fetch_wake(c->downloader); /* it begins nothing while the fleet is paused */
    if (state == FLEET_STOPPING && !fleet_is_over(c->fleet)) {
        c->fleet_returns = true;
        crawl_end_at(c, "the fleet was stopped");
    }
}

int shared_look(storage *storage)
{
    if (crawl_ends(storage->crawl) != ENDING_NOT)
        return VIDI_OK;
    int error = shared_is_out(storage) ? look_while_out(storage) : look_at_version(storage);
    if (error || storage->shared.out)
        return error;
    unbar(storage);
    look_at_state(storage);
    error = shared_take(storage);
    return error ? error : scan(storage);
}

int64_t shared_patience(const storage *storage)
{
    const shared *self = &storage->shared;
    int64_t wait = self->barred.count > 0 ? self->barred_until - storage_now() : INT64_MAX;

    if (self->out)
        return self->lost > 0 ? INT64_MAX : 0;
    return may_scan(self) || fleet_has_links(storage->crawl->fleet) ? 0 : wait < 0 ? 0 : wait;
}

/* ---- the end ---- */

int shared_idle(storage *storage, bool *over)
{
    shared *self = &storage->shared;
    struct fleet *fleet = storage->crawl->fleet;
    uint64_t kept = storage->counts.urls - storage->counts.outcomes;

    *over = false;
    if (self->scans || self->rescans || self->adopts || shared_is_out(storage) || self->took || fleet_has_links(fleet))
        return VIDI_OK;
    int error = fleet_idle(fleet, true, kept);
    if (error)
        return storage_failed(storage, error, "cannot tell the fleet that nothing is left", fleet_why(fleet));
    *over = fleet_is_over(fleet);
    storage->crawl->fleet_returns = *over && kept > 0;
    return VIDI_OK;
}
