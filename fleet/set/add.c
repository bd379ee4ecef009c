/*
 * Adding URLs: VIDI.CLAIM.
 *
 * A slice of the batch is claimed, in one command for each shard, and each claim that is new goes to the queue of what
 * is pending, in the order of the batch. Then it waits for a commit, or is committed at once.
 *
 * Claims are always made with AGAIN: a server answers "claimed", with the same token, also for what this handle holds
 * already. So a command whose reply was lost is simply sent again, by the client or by the next call, and a URL that was
 * claimed unnoticed is not taken for somebody else's. Nor is it taken for new a second time: what the handle knows that
 * it holds is in its queue, and servers are not asked for it.
 */
#include "add.h"

#include <string.h>

slice_command own_command(vidi_cluster *cluster, vidi_str name)
{
    return (slice_command){.name = name, .owner = word_of(cluster->owner), .how = CALL_WRITES};
}

/* ---- replies ---- */

static bool take_token(const redis_reply *word, claim_token *token)
{
    if (word->type != REDIS_TEXT || word->text.len != sizeof token->text || !word->text.ptr[0])
        return false;
    memcpy(token->text, word->text.ptr, sizeof token->text);
    return true;
}

int claim_read_answer(vidi_cluster *cluster, const redis_reply *item, uint8_t *verdict, claim_token *token)
{
    const redis_reply *word = item->type == REDIS_ARRAY && item->count >= 1 ? &item->items[0] : NULL;
    if (item->type == REDIS_ERROR)
        return cluster_refused(cluster, NULL, item->text);
    if (!word || word->type != REDIS_TEXT)
        return cluster_garbled(cluster);
    if (text_is(word->text, "seen"))
        *verdict = VIDI_SEEN;
    else if (text_is(word->text, "held"))
        *verdict = VIDI_HELD;
    else if (text_is(word->text, "invalid"))
        *verdict = VIDI_INVALID;
    else if (text_is(word->text, "claimed") && item->count == 2 && take_token(&item->items[1], token))
        *verdict = CLAIM_MADE;
    else
        return cluster_garbled(cluster);
    return VIDI_OK;
}

static int take_answer(vidi_cluster *cluster, size_t position, const redis_reply *item, bool repeated)
{
    (void)repeated;
    slice *slice = cluster->slice;
    int code = claim_read_answer(cluster, item, &slice->verdicts[position], &slice->tokens[position]);
    if (slice->verdicts[position] == VIDI_HELD && !(cluster->flags & VIDI_TELL_HELD))
        slice->verdicts[position] = VIDI_SEEN;
    return code;
}

/* Shards whose claims may have been made although no reply came. */
static void note_doubts(vidi_cluster *cluster)
{
    const slice *slice = cluster->slice;
    for (size_t i = 0; i < cluster->calls.count; i++)
        if (!cluster->calls.list[i].reply)
            leases_doubt(cluster->leases, slice->groups[slice->call_group[i]].shard);
}

/* ---- a slice ---- */

static int prepare_to_claim(vidi_cluster *cluster)
{
    if (!cluster->leases && !(cluster->leases = leases_make(cluster)))
        return cluster_fail(VIDI_EMEMORY, "there is no memory for the leases of claims");
    if (pending_reserve(&cluster->pending, cluster->slice->n) != VIDI_OK)
        return cluster_fail(VIDI_EMEMORY, "there is no memory for URLs that wait for a commit");
    return VIDI_OK;
}

/* A claim that was made waits for its commit. */
static void enqueue(vidi_cluster *cluster, const slice *slice, size_t at)
{
    pending_add(&cluster->pending, slice->hashes[at], &slice->tokens[at]);
    leases_add(cluster->leases, slice->shards[at]);
}

/* The verdict on an entry; `verdicts` has those before it. */
static uint8_t verdict_on(vidi_cluster *cluster, const slice *slice, size_t at, const uint8_t *verdicts)
{
    uint8_t verdict = slice->verdicts[at];
    if (verdict == SLICE_REPEAT) {
        verdict = verdicts[slice->numbers[at]];
        return verdict == VIDI_NEW ? VIDI_SEEN : verdict;
    }
    if (verdict != CLAIM_MADE)
        return verdict;
    enqueue(cluster, slice, at);
    return VIDI_NEW;
}

/* Gives the slice's verdicts to the caller, in the order of the batch. */
static void hand_over(vidi_cluster *cluster, uint8_t *verdicts, uint64_t *marks)
{
    slice *slice = cluster->slice;
    bool manual = cluster->flags & VIDI_MANUAL_COMMIT;
    for (size_t at = 0; at < slice->n; at++) {
        verdicts[at] = verdict_on(cluster, slice, at, verdicts);
        if (marks)
            marks[at] = manual ? pending_mark(&cluster->pending) : 0;
    }
}

/* Claims what is in the slice. After an error some URLs are VIDI_UNTRIED. */
static int add_slice(vidi_cluster *cluster, uint8_t *verdicts, uint64_t *marks)
{
    CLUSTER_TRY(prepare_to_claim(cluster));
    slice_leave_out_known(cluster);
    slice_command command = own_command(cluster, WORD("VIDI.CLAIM"));
    command.lease = word_of(cluster->lease);
    command.again = command.pairs = true;
    slice_ask(cluster, &command);
    int code = slice_run(cluster, take_answer);
    if (code != VIDI_OK)
        note_doubts(cluster);
    hand_over(cluster, verdicts, marks);
    return code;
}

/* The claims of a slice were made: commits them, or sees to it that they last. */
static int settle(vidi_cluster *cluster)
{
    int code = VIDI_OK;
    if (!(cluster->flags & VIDI_MANUAL_COMMIT))
        code = commit_before(cluster, pending_mark(&cluster->pending));
    if (!pending_is_empty(&cluster->pending)) {
        int started = leases_start(cluster->leases);
        code = code == VIDI_OK ? started : code;
    }
    return code;
}

/* *done counts the URLs that were taken. VIDI_INVALID, or the error that came last: its sentence is the one kept. */
static int add_all(vidi_cluster *cluster, const vidi_str *urls, size_t n, uint8_t *verdicts, uint64_t *marks,
                   size_t *done)
{
    int code = VIDI_OK;
    while (*done < n && code == VIDI_OK) {
        code = slice_take(cluster, urls + *done, sizeof *urls, n - *done);
        if (code < 0)
            return code;
        size_t taken = cluster->slice->n;
        int added = add_slice(cluster, verdicts + *done, marks ? marks + *done : NULL), settled = settle(cluster);
        *done += taken;
        code = settled != VIDI_OK ? settled : added != VIDI_OK ? added : code;
    }
    return code;
}

int vidi_cluster_add_batch(vidi_cluster *cluster, const vidi_str *urls, size_t n, uint8_t *verdicts, uint64_t *marks)
{
    size_t done = 0;
    if (n && (!urls || !verdicts))
        return cluster_fail(VIDI_EARGUMENT, "a batch needs URLs and room for their verdicts");
    if (n)
        memset(verdicts, VIDI_UNTRIED, n);
    CLUSTER_TRY(cluster_enter_to_write(cluster));
    int code = add_all(cluster, urls, n, verdicts, marks, &done);
    for (; marks && done < n; done++)
        marks[done] = cluster->flags & VIDI_MANUAL_COMMIT ? pending_mark(&cluster->pending) : 0;
    cluster_leave(cluster);
    return code;
}

/* The verdict stands also if the commit has failed: it is tried again with the next one. */
int vidi_cluster_add(vidi_cluster *cluster, vidi_str url)
{
    uint8_t verdict;
    int code = vidi_cluster_add_batch(cluster, &url, 1, &verdict, NULL);
    if (verdict == VIDI_INVALID && code == VIDI_OK)
        return cluster_fail_as_set(VIDI_INVALID);
    return verdict == VIDI_UNTRIED ? code : verdict;
}
