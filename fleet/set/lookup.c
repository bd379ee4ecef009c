/*
 * Calls on URLs that claim nothing: has, has_previous, remove, count.
 */
#include <string.h>

#include "add.h"

/* ---- has ---- */

/* 1: it would be new, unless this handle has claimed it; 0: it was seen; nil: not a URL for the server. */
static int take_has(vidi_cluster *cluster, size_t position, const redis_reply *item, bool repeated)
{
    slice *slice = cluster->slice;
    (void)repeated;
    if (item->type == REDIS_ERROR)
        return cluster_refused(cluster, NULL, item->text);
    if (item->type != REDIS_INTEGER && item->type != REDIS_NIL)
        return cluster_garbled(cluster);
    bool seen = item->integer == 0 || pending_find(&cluster->pending, slice->hashes[position]);
    slice->verdicts[position] = item->type == REDIS_NIL ? VIDI_INVALID : seen ? VIDI_SEEN : VIDI_NEW;
    return VIDI_OK;
}

int slice_look_up(vidi_cluster *cluster)
{
    slice_ask(cluster, &(slice_command){.name = WORD("VIDI.MHAS")});
    return slice_run(cluster, take_has);
}

static int look_up(vidi_cluster *cluster, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    int code = VIDI_OK;
    for (size_t done = 0; done < n && code == VIDI_OK; done += cluster->slice->n) {
        code = slice_take(cluster, urls + done, sizeof *urls, n - done);
        if (code < 0)
            return code;
        int asked = slice_look_up(cluster);
        memcpy(verdicts + done, cluster->slice->verdicts, cluster->slice->n);
        code = asked != VIDI_OK ? asked : code;
    }
    return code;
}

int vidi_cluster_has_batch(vidi_cluster *cluster, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    if (n && (!urls || !verdicts))
        return cluster_fail(VIDI_EARGUMENT, "a batch needs URLs and room for their verdicts");
    if (n)
        memset(verdicts, VIDI_UNTRIED, n);
    CLUSTER_TRY(cluster_enter(cluster));
    int code = look_up(cluster, urls, n, verdicts);
    cluster_leave(cluster);
    return code;
}

int vidi_cluster_has(vidi_cluster *cluster, vidi_str url)
{
    uint8_t verdict = VIDI_UNTRIED;
    int code = vidi_cluster_has_batch(cluster, &url, 1, &verdict);
    if (verdict == VIDI_INVALID && code == VIDI_OK)
        return cluster_fail_as_set(VIDI_INVALID);
    return code == VIDI_OK ? verdict : code;
}

/* ---- one URL, one command ---- */

/*
 * Sends VIDI.NAME key IF id URLS url. *reply is an integer or NULL: then the call returns VIDI_INVALID, or an error.
 * cluster->calls has the call.
 */
static int ask_one(vidi_cluster *cluster, vidi_str name, unsigned how, vidi_str url, const redis_reply **reply)
{
    *reply = NULL;
    int code = slice_take(cluster, &url, sizeof url, 1);
    if (code != VIDI_OK)
        return code;
    if (!cluster->slice->valid)
        return cluster_fail_as_set(VIDI_INVALID);
    slice_ask(cluster, &(slice_command){.name = name, .how = how});
    CLUSTER_TRY(cluster_run(cluster));
    const shard *shard = shards_get(&cluster->shards, cluster->slice->groups[0].shard);
    *reply = cluster_reply(cluster, 0, REDIS_INTEGER, shard, &code);
    return code;
}

static bool has_no_previous(const vidi_cluster *cluster)
{
    const redis_reply *reply = cluster->calls.count ? cluster->calls.list[0].reply : NULL;
    return reply && reply->type == REDIS_ERROR && text_begins(reply->text, "ERR no previous epoch");
}

int vidi_cluster_has_previous(vidi_cluster *cluster, vidi_str url)
{
    const redis_reply *reply;
    CLUSTER_TRY(cluster_enter(cluster));
    int code = ask_one(cluster, WORD("VIDI.HASPREVIOUS"), 0, url, &reply);
    if (code == VIDI_OK)
        code = reply->integer ? VIDI_NEW : VIDI_SEEN;
    else if (code == VIDI_EIO && has_no_previous(cluster))
        code = cluster_fail(VIDI_ECANNOT, "%s: the previous epoch is not kept", cluster->shown);
    cluster_leave(cluster);
    return code;
}

/* A URL that waits for a commit is not in the set yet: its claim is dropped. */
static int remove_pending(vidi_cluster *cluster, pending_entry *entry)
{
    int code = VIDI_OK;
    uint64_t number = cluster->pending.begin + (uint64_t)(entry - cluster->pending.entries) - cluster->pending.first;
    CLUSTER_TRY(slice_begin(cluster));
    slice_add_claim(cluster->slice, entry, number);
    slice_sort(cluster);
    const shard *shard = shards_get(&cluster->shards, cluster->slice->groups[0].shard);
    slice_command command = own_command(cluster, WORD("VIDI.RELEASE"));
    command.tokens = true;
    slice_ask(cluster, &command);
    calls_add(&cluster->calls, WORD("DROP")); /* after tokens, it comes last */
    CLUSTER_TRY(cluster_run(cluster));
    if (!cluster_reply(cluster, 0, REDIS_ARRAY, shard, &code))
        return code;
    pending_close(entry);
    leases_remove(cluster->leases, cluster->slice->shards[0]);
    pending_trim(&cluster->pending);
    return VIDI_OK;
}

static int remove_url(vidi_cluster *cluster, vidi_str url)
{
    const redis_reply *reply;
    int code = slice_take(cluster, &url, sizeof url, 1);
    if (code != VIDI_OK)
        return code;
    pending_entry *entry = cluster->slice->valid ? pending_find(&cluster->pending, cluster->slice->hashes[0]) : NULL;
    if (entry)
        return remove_pending(cluster, entry);
    CLUSTER_TRY(ask_one(cluster, WORD("VIDI.DEL"), CALL_WRITES, url, &reply));
    if (reply->integer || cluster->calls.list[0].repeated) /* the first command, whose reply was lost, has done it */
        return VIDI_OK;
    return cluster_fail(VIDI_EABSENT, "%s: the URL is not in the set", cluster->shown);
}

int vidi_cluster_remove(vidi_cluster *cluster, vidi_str url)
{
    CLUSTER_TRY(cluster_enter_to_write(cluster));
    int code = remove_url(cluster, url);
    cluster_leave(cluster);
    return code;
}

int vidi_cluster_count(vidi_cluster *cluster, vidi_str url, uint64_t *times)
{
    const redis_reply *reply;
    if (!times)
        return cluster_fail(VIDI_EARGUMENT, "there is no room for the count");
    CLUSTER_TRY(cluster_enter(cluster));
    int code = ask_one(cluster, WORD("VIDI.COUNT"), 0, url, &reply);
    *times = code == VIDI_OK && reply->integer > 0 ? (uint64_t)reply->integer : 0;
    cluster_leave(cluster);
    return code;
}
