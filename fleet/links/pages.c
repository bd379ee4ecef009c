/*
 * Claims of pages: fleet_check_block, fleet_done, fleet_put_back and fleet_idle of fleet.h.
 */
#include <stdlib.h>
#include <string.h>

#include "fleet/links/claim_batch.h"

/* ---- before fetching ---- */

static int claim_block(fleet *fleet, const fleet_link *links, size_t n, claim_batch *batch)
{
    int error = VIDI_OK;

    for (size_t i = 0; i < n && error == VIDI_OK; i++)
        if (!hand_set_has(&fleet->in_hand, fleet_hash(fleet, links[i].url)))
            error = claim_batch_add(batch, &fleet->storage, links[i].url, links[i].payload, i);
    return error ? error : claim_batch_run(batch, fleet, &fleet->storage, VIDI_CLAIM_AGAIN);
}

/* Two rows of one URL may be in the same block, so the set decides here, too. */
static int take_in_hand(fleet *fleet, const claim_batch *batch, bool *mine)
{
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->claims[i].verdict != VIDI_NEW)
            continue;
        int error = hand_set_add(&fleet->in_hand, fleet_hash(fleet, batch->claims[i].url));
        if (error == VIDI_EMEMORY)
            return error;
        mine[batch->tags[i]] = error == VIDI_OK;
    }
    return VIDI_OK;
}

int fleet_check_block(fleet *fleet, const fleet_link *links, size_t n, bool *mine)
{
    patience patience = wire_patience(&fleet->storage);
    claim_batch batch = {0};
    int error;

    memset(mine, 0, n * sizeof *mine);
    if (n == 0)
        return VIDI_OK;
    fleet_moving_begin(fleet);
    fleet_moves(fleet, true);
    do {
        claim_batch_clear(&batch);
        error = claim_block(fleet, links, n, &batch);
    } while (wire_try_again(&fleet->storage, &patience, error));
    if (error == VIDI_OK)
        error = take_in_hand(fleet, &batch, mine);
    fleet_moving_end(fleet);
    claim_batch_free(&batch);
    return error;
}

/* ---- after fetching ---- */

void fleet_put_back(fleet *fleet, const vidi_str *urls, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hand_set_remove(&fleet->in_hand, fleet_hash(fleet, urls[i]));
}

static int commit(fleet *fleet, const char *owner, const vidi_str *urls, size_t n, uint8_t *done)
{
    wire *wire = &fleet->storage;
    int error = VIDI_OK;

    for (size_t from = 0; from < n && error == VIDI_OK; from += CLAIMS_AT_ONCE) {
        size_t left = n - from, some = left < CLAIMS_AT_ONCE ? left : CLAIMS_AT_ONCE;
        error = vidi_cluster_finish(wire->cluster, owner, urls + from, some, VIDI_FINISH_COMMIT, done + from);
    }
    return error ? wire_set_failed(wire, error) : VIDI_OK;
}

/*
 * Pages whose claim this process did not have any more. If nobody else has one, the set learns now that they are done.
 * Otherwise somebody is fetching them again, or has done so.
 */
static int commit_late(fleet *fleet, const vidi_str *urls, size_t n, uint8_t *done)
{
    claim_batch batch = {0};
    int error = VIDI_OK;

    for (size_t i = 0; i < n && error == VIDI_OK; i++)
        if (!done[i])
            error = claim_batch_add(&batch, &fleet->storage, urls[i], (vidi_str){"", 0}, i);
    if (error == VIDI_OK && batch.count > 0)
        error = claim_batch_run(&batch, fleet, &fleet->storage, VIDI_CLAIM_AGAIN);
    for (size_t i = 0; i < batch.count && error == VIDI_OK; i++) {
        vidi_str url = batch.claims[i].url;
        bool in_hand = hand_set_has(&fleet->in_hand, fleet_hash(fleet, url));
        uint8_t late = 1;
        if (batch.claims[i].verdict == VIDI_NEW)
            error = commit(fleet, fleet->hand, &url, 1, &late);
        else if (in_hand)
            atomic_fetch_add(&fleet->counts.repeated, 1);
    }
    claim_batch_free(&batch);
    return error;
}

static int done_once(fleet *fleet, const vidi_str *urls, size_t n, uint8_t *done)
{
    memset(done, 0, n);
    int error = commit(fleet, fleet->hand, urls, n, done);

    return error ? error : commit_late(fleet, urls, n, done);
}

int fleet_done(fleet *fleet, const vidi_str *urls, size_t n)
{
    patience patience = wire_patience(&fleet->storage);
    uint8_t *done = n ? malloc(n) : NULL;
    int error;

    if (!done)
        return n ? VIDI_EMEMORY : VIDI_OK;
    fleet_moving_begin(fleet);
    fleet_moves(fleet, true);
    do
        error = done_once(fleet, urls, n, done);
    while (wire_try_again(&fleet->storage, &patience, error));
    fleet_moving_end(fleet);
    free(done);
    if (error)
        return error;
    atomic_fetch_add(&fleet->counts.done, n);
    fleet_put_back(fleet, urls, n);
    return VIDI_OK;
}

/* ---- nothing to do ---- */

/*
 * A process without work may still have claims: links that were claimed when it died, before they had a row, and of
 * which the process that followed it knows nothing. They are given up, so somebody sweeps them and they come back as
 * links. If there are rows that wait for another run, they are swept, too, and get second rows, which do no harm.
 */
static int give_up_unknown(fleet *fleet, uint64_t kept)
{
    wire *wire = &fleet->storage;
    uint64_t own = 0;
    int error = vidi_cluster_renew(wire->cluster, fleet->hand, fleet->options.access.lease_ms, &own);

    if (error == VIDI_OK && own > kept) {
        fleet_moves(fleet, false);
        error = vidi_cluster_abandon(wire->cluster, fleet->hand, NULL);
    }
    return error ? wire_set_failed(wire, error) : VIDI_OK;
}

int fleet_idle(fleet *fleet, bool idle, uint64_t kept)
{
    int64_t now = fleet_now();
    int error = VIDI_OK;

    if (idle && !fleet_is_out(fleet) && fleet->looked + fleet->options.sweep_ms <= now) {
        fleet_moving_begin(fleet);
        error = give_up_unknown(fleet, kept);
        fleet_moving_end(fleet);
        fleet->looked = fleet_now();
    }
    pthread_mutex_lock(&fleet->lock);
    bool news = idle && error == VIDI_OK && !fleet->idle;
    fleet->idle = idle && error == VIDI_OK;
    fleet->kept = kept;
    pthread_mutex_unlock(&fleet->lock);
    if (news)
        fleet_want_beat(fleet);
    return error;
}
