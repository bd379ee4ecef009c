/*
 * Committing what was added: VIDI.COMMIT; and giving it up.
 *
 * A claim is committed by its token. "stale" means that the claim is gone: it has expired and somebody else has taken
 * the URL, or the set was rotated. Then the URL may be handed out twice, which is counted. If a reply was lost and the
 * command sent again, by the client or by a later call, "stale" is what a claim is answered that the first command has
 * committed.
 */
#include <string.h>

#include "add.h"

static int take_answer(vidi_cluster *cluster, size_t position, const redis_reply *item, bool repeated)
{
    const slice *slice = cluster->slice;
    if (item->type == REDIS_ERROR)
        return cluster_refused(cluster, NULL, item->text);
    bool stale = item->type == REDIS_TEXT && text_is(item->text, "stale");
    if (item->type != REDIS_TEXT || (!stale && !text_is(item->text, "committed")))
        return cluster_garbled(cluster);
    cluster->stale += stale && !repeated && slice->numbers[position] >= cluster->unsure;
    pending_close(pending_at(&cluster->pending, slice->numbers[position]));
    leases_remove(cluster->leases, slice->shards[position]);
    return VIDI_OK;
}

/* Fills the slice with pending claims from *number on. */
static int take_pending(vidi_cluster *cluster, uint64_t *number, uint64_t mark)
{
    CLUSTER_TRY(slice_begin(cluster));
    slice *slice = cluster->slice;
    for (; *number < mark && slice->n < SLICE_URLS; ++*number) {
        const pending_entry *entry = pending_at(&cluster->pending, *number);
        if (pending_is_open(entry))
            slice_add_claim(slice, entry, *number);
    }
    slice_sort(cluster);
    return VIDI_OK;
}

int commit_before(vidi_cluster *cluster, uint64_t mark)
{
    int first = VIDI_OK;
    slice_command command = own_command(cluster, WORD("VIDI.COMMIT"));
    command.tokens = true;
    for (uint64_t number = cluster->pending.begin; number < mark;) {
        CLUSTER_TRY(take_pending(cluster, &number, mark));
        slice_ask(cluster, &command);
        int code = slice_run(cluster, take_answer);
        if (code != VIDI_OK)
            cluster->unsure = number;
        first = code != VIDI_OK ? code : first;
        if (code == VIDI_EIO || code == VIDI_EBUSY)
            break;
    }
    pending_trim(&cluster->pending);
    return first;
}

void commit_nothing(vidi_cluster *cluster)
{
    calls_clear(&cluster->calls);
    for (uint32_t i = 0; cluster->leases && i < cluster->record.shards; i++) {
        if (!leases_has(cluster->leases, i))
            continue;
        const shard *shard = shards_get(&cluster->shards, i);
        calls_begin_shard(&cluster->calls, shard, WORD("VIDI.RELEASE"), CALL_WRITES);
        calls_add(&cluster->calls, word_of(cluster->owner));
        calls_guard(&cluster->calls, shard);
        calls_add(&cluster->calls, WORD("ALL"));
    }
    (void)cluster_run(cluster);
}

/* ---- the interface ---- */

static int commit(vidi_cluster *cluster, const uint64_t *mark)
{
    int code = VIDI_OK;
    CLUSTER_TRY(cluster_enter(cluster));
    uint64_t last = pending_mark(&cluster->pending);
    if (!(cluster->flags & VIDI_MANUAL_COMMIT))
        mark = NULL; /* what is pending there is what could not be committed at once */
    if (mark && *mark > last)
        code = cluster_fail(VIDI_EARGUMENT, "the mark does not belong to this set: it has given none beyond %llu",
                            (unsigned long long)last);
    else
        code = commit_before(cluster, mark ? *mark : last);
    cluster_leave(cluster);
    return code;
}

int vidi_cluster_commit(vidi_cluster *cluster)
{
    return commit(cluster, NULL);
}

int vidi_cluster_commit_to(vidi_cluster *cluster, uint64_t mark)
{
    return commit(cluster, &mark);
}

int vidi_cluster_mark(vidi_cluster *cluster, uint64_t *mark)
{
    if (!mark)
        return cluster_fail(VIDI_EARGUMENT, "there is no room for the mark");
    CLUSTER_TRY(cluster_enter(cluster));
    *mark = cluster->flags & VIDI_MANUAL_COMMIT ? pending_mark(&cluster->pending) : 0;
    cluster_leave(cluster);
    return VIDI_OK;
}
