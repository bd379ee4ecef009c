/*
 * The storage thread's loop: see storage.h. A batch is committed when it is full, when its first page has waited for a
 * quarter of a second, or at once if the fetcher has nothing to do: then nobody gains by waiting.
 */
#include "crawler/crawl/storage/storage.h"

#include <time.h>

enum { SYNC_EVERY = 1000 }; /* milliseconds */

int64_t storage_now(void)
{
    return crawl_clock_real.now(NULL);
}

/* ---- what arrives ---- */

static void take_fetch_job(storage *of, fetch_job *page)
{
    batch *b = &of->batch;

    if (!b->fetch_jobs.first)
        b->began = storage_now();
    b->bytes += page->weight;
    messages_add(&b->fetch_jobs, &page->message);
}

static int take_host_info(storage *of, host_info *news)
{
    int error = VIDI_OK;

    if (*news->parked)
        error = host_table_park(of, news->host);
    else if (news->not_before > 0)
        error = host_table_defer(of, news->host, news->not_before);
    if (!of->batch.host_infos.first && !of->batch.fetch_jobs.first)
        of->batch.began = storage_now();
    messages_add(&of->batch.host_infos, &news->message);
    return error;
}

static int take_request(storage *of, host_request *asked)
{
    int error = asked->message.kind == MESSAGE_WANT_URLS ? host_table_want(of, asked) : host_table_leave(of, asked);

    of->handled++;
    message_free(&asked->message);
    return error;
}

static int take_one(storage *of, message *one)
{
    if (one->kind == MESSAGE_FETCH_JOB) {
        take_fetch_job(of, (fetch_job *)one);
        return VIDI_OK;
    }
    return one->kind == MESSAGE_HOST_INFO ? take_host_info(of, (host_info *)one)
                                          : take_request(of, (host_request *)one);
}

/* ---- when ---- */

/* CRAWL_BATCH is half of CRAWL_PAGES: the other half is fetched while this one is being committed. */
static bool is_full(const batch *of)
{
    return of->fetch_jobs.count >= CRAWL_BATCH || of->bytes >= CRAWL_BATCH_BYTES;
}

static bool should_commit(const storage *of, bool closing)
{
    const batch *b = &of->batch;

    if (!closing && of->sort_helps && frontier_unsorted(db_frontier(of->crawl->db)) > 0)
        return true;
    if (batch_is_empty(b))
        return false;
    return closing || is_full(b) || atomic_load(&of->crawl->starving) || storage_now() - b->began >= CRAWL_BATCH_MS;
}

static int64_t patience(const storage *of)
{
    int64_t now = storage_now(), wait = SYNC_EVERY;

    if (should_commit(of, false))
        return 0;
    if (!batch_is_empty(&of->batch))
        wait = of->batch.began + CRAWL_BATCH_MS - now;
    else if (of->unsynced)
        wait = of->synced_at + SYNC_EVERY - now;
    return wait < 0 ? 0 : wait;
}

/* ---- rounds ---- */

static void send(storage *of)
{
    if (!of->to_fetcher.first)
        return;
    if (message_queue_put(&of->crawl->to_fetcher, &of->to_fetcher))
        fetch_wake(of->crawl->downloader);
    else
        messages_free(&of->to_fetcher);
}

/* Sends what there is to send, then says that the messages behind it are dealt with. */
static void end_round(storage *of)
{
    send(of);
    crawl_handled(of->crawl, of->handled);
    of->handled = 0;
}

static int commit_if_needed(storage *of, bool closing)
{
    while (should_commit(of, closing)) {
        int error = storage_commit(of);
        if (error == VIDI_OK)
            error = host_table_feed(of);
        if (error)
            return error;
        send(of);
    }
    return VIDI_OK;
}

static int look_for_the_end(storage *of)
{
    bool done = false;
    int error = crawl_ends(of->crawl) == ENDING_NOT ? host_table_is_done(of, &done) : VIDI_OK;

    if (done)
        crawl_end_as(of->crawl, ENDING_DONE);
    return error;
}

static int round_of(storage *of, messages *arrived, bool closing)
{
    int error = VIDI_OK;
    message *one;

    while (error == VIDI_OK && (one = messages_remove(arrived))) {
        error = take_one(of, one);
        if (error == VIDI_OK && is_full(&of->batch))
            error = commit_if_needed(of, closing);
    }
    if (error == VIDI_OK)
        error = commit_if_needed(of, closing);
    if (error == VIDI_OK)
        error = host_table_feed(of);
    if (error == VIDI_OK)
        error = look_for_the_end(of);
    if (error == VIDI_OK && of->unsynced && storage_now() - of->synced_at >= SYNC_EVERY)
        error = storage_sync(of);
    return error;
}

/* The set is synced, and the database knows it. */
static int finish(storage *of)
{
    int error = storage_sync(of);

    of->sort_helps = false;
    of->crawl->ends = true;
    return error ? error : storage_commit(of);
}

static void tell(storage *of, int error)
{
    if (error == VIDI_EMEMORY)
        crawl_no_memory(of->crawl);
    else /* if it is known better, that was told before */
        crawl_fail(of->crawl, "cannot read the database: %s", db_error(of->crawl->db));
}

void *storage_run(void *context)
{
    crawl *c = context;
    storage of = {.crawl = c, .strangers = true, .sort_helps = true, .filter_until = c->found_until, .handled = 1};
    messages arrived = {0};
    bool more = true;
    int error = counters_read(c, &of.counts);

    of.synced_at = storage_now();
    of.unsynced = true;
    while (error == VIDI_OK && more) {
        error = round_of(&of, &arrived, false);
        end_round(&of);
        if (error == VIDI_OK)
            more = message_queue_take(&c->to_storage, &arrived, SIZE_MAX, patience(&of));
    }
    if (error == VIDI_OK)
        error = round_of(&of, &arrived, true);
    if (error == VIDI_OK)
        error = finish(&of);
    if (error)
        tell(&of, error);
    messages_free(&arrived);
    messages_free(&of.to_fetcher);
    message_queue_close(&c->to_storage);
    crawl_handled(c, of.handled);
    batch_free(&of.batch);
    host_table_free(&of);
    return NULL;
}
