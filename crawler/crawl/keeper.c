/*
 * The keeper's loop: see keeper.h. A batch is committed when it is full, when its first page has waited for a quarter
 * of a second, or at once if the spider has nothing to do: then nobody gains by waiting.
 */
#include "crawler/crawl/keeper.h"

#include <time.h>

enum { SYNC_EVERY = 1000 }; /* milliseconds */

int64_t keeper_now(void)
{
    return crawl_clock_real.now(NULL);
}

/* ---- what arrives ---- */

static void take_errand(keeper *of, errand *page)
{
    batch *b = &of->batch;

    if (!b->errands.first)
        b->began = keeper_now();
    b->bytes += page->weight;
    parcels_add(&b->errands, &page->parcel);
}

static int take_card(keeper *of, card *news)
{
    int error = VIDI_OK;

    if (*news->parked)
        error = roster_park(of, news->host);
    else if (news->not_before > 0)
        error = roster_defer(of, news->host, news->not_before);
    if (!of->batch.cards.first && !of->batch.errands.first)
        of->batch.began = keeper_now();
    parcels_add(&of->batch.cards, &news->parcel);
    return error;
}

static int take_request(keeper *of, request *asked)
{
    int error = asked->parcel.kind == PARCEL_WANT ? roster_want(of, asked) : roster_leave(of, asked);

    of->handled++;
    parcel_free(&asked->parcel);
    return error;
}

static int take_one(keeper *of, parcel *one)
{
    if (one->kind == PARCEL_ERRAND) {
        take_errand(of, (errand *)one);
        return VIDI_OK;
    }
    return one->kind == PARCEL_CARD ? take_card(of, (card *)one) : take_request(of, (request *)one);
}

/* ---- when ---- */

/* CRAWL_BATCH is half of CRAWL_PAGES: the other half is fetched while this one is being committed. */
static bool is_full(const batch *of)
{
    return of->errands.count >= CRAWL_BATCH || of->bytes >= CRAWL_BATCH_BYTES;
}

static bool should_commit(const keeper *of, bool closing)
{
    const batch *b = &of->batch;

    if (!closing && of->sort_helps && frontier_unsorted(ledger_frontier(of->crawl->ledger)) > 0)
        return true;
    if (batch_is_empty(b))
        return false;
    return closing || is_full(b) || atomic_load(&of->crawl->starving) || keeper_now() - b->began >= CRAWL_BATCH_MS;
}

static int64_t patience(const keeper *of)
{
    int64_t now = keeper_now(), wait = SYNC_EVERY;

    if (should_commit(of, false))
        return 0;
    if (!batch_is_empty(&of->batch))
        wait = of->batch.began + CRAWL_BATCH_MS - now;
    else if (of->unsynced)
        wait = of->synced_at + SYNC_EVERY - now;
    return wait < 0 ? 0 : wait;
}

/* ---- rounds ---- */

static void send(keeper *of)
{
    if (!of->to_spider.first)
        return;
    if (mailbox_put(&of->crawl->to_spider, &of->to_spider))
        fetch_wake(of->crawl->fetcher);
    else
        parcels_free(&of->to_spider);
}

/* Sends what there is to send, then says that the parcels behind it are dealt with. */
static void end_round(keeper *of)
{
    send(of);
    crawl_handled(of->crawl, of->handled);
    of->handled = 0;
}

static int commit_if_needed(keeper *of, bool closing)
{
    while (should_commit(of, closing)) {
        int error = keeper_commit(of);
        if (error == VIDI_OK)
            error = roster_feed(of);
        if (error)
            return error;
        send(of);
    }
    return VIDI_OK;
}

static int look_for_the_end(keeper *of)
{
    bool done = false;
    int error = crawl_ends(of->crawl) == ENDING_NOT ? roster_is_done(of, &done) : VIDI_OK;

    if (done)
        crawl_end_as(of->crawl, ENDING_DONE);
    return error;
}

static int round_of(keeper *of, parcels *arrived, bool closing)
{
    int error = VIDI_OK;
    parcel *one;

    while (error == VIDI_OK && (one = parcels_remove(arrived))) {
        error = take_one(of, one);
        if (error == VIDI_OK && is_full(&of->batch))
            error = commit_if_needed(of, closing);
    }
    if (error == VIDI_OK)
        error = commit_if_needed(of, closing);
    if (error == VIDI_OK)
        error = roster_feed(of);
    if (error == VIDI_OK)
        error = look_for_the_end(of);
    if (error == VIDI_OK && of->unsynced && keeper_now() - of->synced_at >= SYNC_EVERY)
        error = keeper_sync(of);
    return error;
}

/* The set is synced, and the database knows it. */
static int finish(keeper *of)
{
    int error = keeper_sync(of);

    of->sort_helps = false;
    of->crawl->ends = true;
    return error ? error : keeper_commit(of);
}

static void tell(keeper *of, int error)
{
    if (error == VIDI_EMEMORY)
        crawl_no_memory(of->crawl);
    else /* if it is known better, that was told before */
        crawl_fail(of->crawl, "cannot read the database: %s", ledger_error(of->crawl->ledger));
}

void *keeper_run(void *context)
{
    crawl *c = context;
    keeper of = {.crawl = c, .strangers = true, .sort_helps = true, .filter_until = c->found_until, .handled = 1};
    parcels arrived = {0};
    bool more = true;
    int error = tallies_read(c, &of.counts);

    of.synced_at = keeper_now();
    of.unsynced = true;
    while (error == VIDI_OK && more) {
        error = round_of(&of, &arrived, false);
        end_round(&of);
        if (error == VIDI_OK)
            more = mailbox_take(&c->to_keeper, &arrived, SIZE_MAX, patience(&of));
    }
    if (error == VIDI_OK)
        error = round_of(&of, &arrived, true);
    if (error == VIDI_OK)
        error = finish(&of);
    if (error)
        tell(&of, error);
    parcels_free(&arrived);
    parcels_free(&of.to_spider);
    mailbox_close(&c->to_keeper);
    crawl_handled(c, of.handled);
    batch_free(&of.batch);
    roster_free(&of);
    return NULL;
}
