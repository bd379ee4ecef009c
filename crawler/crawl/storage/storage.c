/*
 * The storage thread's loop: see storage.h. A batch is committed when it is full, when its first page has waited for a
 * quarter of a second, or at once if the fetcher has nothing to do: then waiting would gain nothing. URLs that the
 * fetcher could begin with are handed out before that.
 */
#include "crawler/crawl/storage/storage.h"

#include <time.h>

enum {
    SYNC_EVERY = 1000, /* milliseconds */
    GROWTH_NS = 500000 /* nanoseconds that the set grows at a time while the thread has nothing else to do */
};

int64_t storage_now(void)
{
    return crawl_clock_real.now(NULL);
}

/* ---- what arrives ---- */

static void take_fetch_job(storage *storage, fetch_job *page)
{
    batch *b = &storage->batch;

    if (!b->fetch_jobs.first)
        b->began = storage_now();
    b->bytes += page->weight;
    messages_add(&b->fetch_jobs, &page->message);
}

static int take_host_info(storage *storage, host_info *news)
{
    int error = VIDI_OK;

    if (*news->parked)
        error = host_table_park(storage, news->host);
    else if (news->not_before > 0)
        error = host_table_defer(storage, news->host, news->not_before);
    if (!storage->batch.host_infos.first && !storage->batch.fetch_jobs.first)
        storage->batch.began = storage_now();
    messages_add(&storage->batch.host_infos, &news->message);
    return error;
}

static int take_request(storage *storage, host_request *asked)
{
    int error =
        asked->message.kind == MESSAGE_WANT_URLS ? host_table_want(storage, asked) : host_table_leave(storage, asked);

    storage->handled++;
    message_free(&asked->message);
    return error;
}

static int take_one(storage *storage, message *one)
{
    if (one->kind == MESSAGE_FETCH_JOB) {
        take_fetch_job(storage, (fetch_job *)one);
        return VIDI_OK;
    }
    return one->kind == MESSAGE_HOST_INFO ? take_host_info(storage, (host_info *)one)
                                          : take_request(storage, (host_request *)one);
}

/* ---- when ---- */

/* CRAWL_BATCH is half of CRAWL_PAGES: the other half is fetched while this one is being committed. */
static bool is_full(const batch *batch)
{
    return batch->fetch_jobs.count >= CRAWL_BATCH || batch->bytes >= CRAWL_BATCH_BYTES;
}

/* True if nothing else is on its way to this thread: neither in its queue nor with the parsers. */
static bool has_everything(const storage *storage)
{
    const batch *b = &storage->batch;

    return atomic_load(&storage->crawl->busy) <= (long)(b->fetch_jobs.count + b->host_infos.count + storage->handled);
}

static bool should_commit(const storage *storage, bool closing)
{
    const batch *b = &storage->batch;

    if (storage->crawl->fleet && !closing && shared_is_out(storage))
        return false;
    if (storage->sites_ripe && !closing)
        return true;
    if (batch_is_empty(b))
        return false;
    if (closing || is_full(b) || storage_now() - b->began >= CRAWL_BATCH_MS)
        return true;
    return atomic_load(&storage->crawl->hunger) == HUNGER_COMMIT && has_everything(storage);
}

/* True if URLs can be had for the fetcher from pages that have come, or from rows that are in no block yet. */
static bool should_prepare(const storage *storage, bool closing)
{
    const batch *b = &storage->batch;

    if (closing || (storage->crawl->fleet && shared_is_out(storage)))
        return false;
    if (storage->sort_helps && frontier_unsorted(db_frontier(storage->crawl->db)) > 0)
        return true;
    return atomic_load(&storage->crawl->hunger) != HUNGER_NONE &&
           (b->last_job != b->fetch_jobs.last || b->last_info != b->host_infos.last ||
            (b->rows_taken > 0 && b->rows_written < b->row_count));
}

static int64_t patience(const storage *storage)
{
    int64_t now = storage_now(), wait = SYNC_EVERY;

    if (should_commit(storage, false) || should_prepare(storage, false))
        return 0;
    if (!batch_is_empty(&storage->batch))
        wait = storage->batch.began + CRAWL_BATCH_MS - now;
    else if (storage->unsynced)
        wait = storage->synced_at + SYNC_EVERY - now;
    int64_t turn = continuous_patience(storage);
    wait = turn < wait ? turn : wait;
    if (storage->crawl->fleet && (turn = shared_patience(storage)) < wait)
        wait = turn;
    return wait < 0 ? 0 : wait;
}

/* ---- rounds ---- */

static void send(storage *storage)
{
    if (!storage->to_fetcher.first)
        return;
    if (message_queue_put(&storage->crawl->to_fetcher, &storage->to_fetcher)) {
        atomic_store(&storage->crawl->hunger, HUNGER_NONE); /* the fetcher looks again when it has taken them in */
        fetch_wake(storage->crawl->downloader);
    } else {
        messages_free(&storage->to_fetcher);
    }
}

/* Sends what this round has produced, then reports the messages of the round as handled. */
static void end_round(storage *storage)
{
    send(storage);
    continuous_tell(storage);
    crawl_handled(storage->crawl, storage->handled);
    storage->handled = 0;
}

static int commit_if_needed(storage *storage, bool closing)
{
    bool commits = false;

    while (should_prepare(storage, closing) || (commits = should_commit(storage, closing))) {
        int error = commits ? storage_commit(storage) : storage_prepare(storage);
        if (error == VIDI_OK)
            error = host_table_feed(storage);
        if (error)
            return error;
        send(storage);
    }
    return VIDI_OK;
}

static int look_for_the_end(storage *storage)
{
    bool done = false, more = crawl_ends(storage->crawl) == ENDING_NOT;
    int error = VIDI_OK;

    while (more && error == VIDI_OK) {
        more = false;
        error = host_table_is_done(storage, &done);
        if (error == VIDI_OK && done)
            error = link_check_ask(storage, &more);
    }
    if (done && error == VIDI_OK && storage->crawl->options.continuous)
        return continuous_idle(storage);
    if (done && error == VIDI_OK && storage->crawl->fleet)
        error = shared_idle(storage, &done);
    if (done && error == VIDI_OK)
        crawl_end_as(storage->crawl, ENDING_DONE);
    return error;
}

static int round_of(storage *storage, messages *arrived, bool closing)
{
    int error = VIDI_OK;
    message *one;

    while (error == VIDI_OK && (one = messages_remove(arrived))) {
        error = take_one(storage, one);
        if (error == VIDI_OK && is_full(&storage->batch))
            error = commit_if_needed(storage, closing);
    }
    if (error == VIDI_OK && storage->crawl->fleet)
        error = shared_look(storage);
    if (error == VIDI_OK)
        error = commit_if_needed(storage, closing);
    if (error == VIDI_OK)
        error = continuous_feed(storage);
    if (error == VIDI_OK)
        error = host_table_feed(storage);
    if (error == VIDI_OK)
        error = look_for_the_end(storage);
    if (error == VIDI_OK && storage->unsynced && storage_now() - storage->synced_at >= SYNC_EVERY)
        error = storage_sync(storage);
    return error;
}

/* The set is synced, and the database knows it. */
static int finish(storage *storage)
{
    const counters *counts = &storage->counts;
    bool more = true;
    int error = VIDI_OK;

    /* At a limit that came last of all, what would be asked for now is left: it must be in the queue. */
    while (more && error == VIDI_OK && counts->urls == counts->outcomes)
        error = link_check_ask(storage, &more);
    if (error == VIDI_OK)
        error = storage_sync(storage);
    storage->sort_helps = false;
    storage->crawl->ends = true;
    if (!error)
        error = storage_commit(storage);
    return error ? error : site_links_end(storage);
}

static void tell(storage *storage, int error)
{
    if (error == VIDI_EMEMORY)
        crawl_no_memory(storage->crawl);
    else /* a more exact sentence, if there was one, came first and counts */
        crawl_fail(storage->crawl, "cannot read the database: %s", db_error(storage->crawl->db));
}

/*
 * Waits for messages. Before that, the set gets a moment for memory that the next adds will need; while it wants more,
 * the thread goes on without waiting.
 */
static bool take_messages(storage *storage, messages *arrived)
{
    int64_t wait = patience(storage);
    int growing = 0;

    if (wait > 0)
        (void)vidi_step(storage->crawl->set, GROWTH_NS, &growing); /* if it fails, the adds will say so */
    return message_queue_take(&storage->crawl->to_storage, arrived, SIZE_MAX, growing ? 0 : wait);
}

/* ---- a crawl of a fleet ---- */

static int begin_shared(storage *storage)
{
    int error = shared_tell_rest(storage);

    shared_begin_hosts(storage);
    return error ? error : shared_seeds(storage);
}

/* What is left of the batch can only be handed over by a member. */
static int end_shared(storage *storage)
{
    struct fleet *fleet = storage->crawl->fleet;
    int error = fleet_is_out(fleet) ? fleet_rejoin(fleet) : VIDI_OK;

    return error ? storage_failed(storage, error, "cannot join the fleet again", fleet_why(fleet)) : VIDI_OK;
}

void *storage_run(void *context)
{
    crawl *c = context;
    storage storage = {
        .crawl = c, .more_hosts = true, .sort_helps = true, .filter_until = c->found_until, .handled = 1};
    messages arrived = {0};
    bool more = true;
    int error = counters_read(c, &storage.counts);
    if (error == VIDI_OK)
        error = payloads_open(&storage);

    if (error == VIDI_OK && c->options.continuous)
        error = continuous_begin(&storage);
    storage.synced_at = storage_now();
    storage.unsynced = true;
    storage.sites_ripe = crawl_has_sites(c);
    if (error == VIDI_OK && c->fleet)
        error = begin_shared(&storage);
    while (error == VIDI_OK && more) {
        error = round_of(&storage, &arrived, false);
        end_round(&storage);
        if (error == VIDI_OK)
            more = take_messages(&storage, &arrived);
    }
    if (error == VIDI_OK && c->fleet)
        error = end_shared(&storage);
    if (error == VIDI_OK)
        error = round_of(&storage, &arrived, true);
    if (error == VIDI_OK)
        error = finish(&storage);
    if (error)
        tell(&storage, error);
    messages_free(&arrived);
    messages_free(&storage.to_fetcher);
    message_queue_close(&c->to_storage);
    crawl_handled(c, storage.handled);
    batch_free(&storage.batch);
    payloads_free(&storage);
    host_table_free(&storage);
    continuous_end(&storage);
    shared_free(&storage);
    return NULL;
}
