/*
 * Claims under names that the caller gives: for programs that fetch what they have claimed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "add.h"
#include "whole.h"

enum { RECLAIM_MOST = 1000 };

static int check_owner(const char *owner)
{
    size_t len = owner ? strlen(owner) : 0;
    if (len < 1 || len > OWNER_MOST)
        return cluster_fail(VIDI_EOPTION, "the name of an owner has 1 to %d bytes", OWNER_MOST);
    return VIDI_OK;
}

/* The lease as a word. */
static int print_lease(int64_t lease_ms, char text[24])
{
    if (lease_ms < 1 || lease_ms > LEASE_MOST)
        return cluster_fail(VIDI_EOPTION, "a lease is 1 to 1000000000000 milliseconds");
    snprintf(text, 24, "%" PRId64, lease_ms);
    return VIDI_OK;
}

/* ---- claim ---- */

/* A claim that somebody has may be this one: the reply to the first command was lost. It is asked for once more. */
enum { PERHAPS_MINE = 101 };

static int take_claim(vidi_cluster *cluster, size_t position, const redis_reply *item, bool repeated)
{
    claim_token token;
    uint8_t *verdict = &cluster->slice->verdicts[position];
    int code = claim_read_answer(cluster, item, verdict, &token);
    if (*verdict == CLAIM_MADE)
        *verdict = VIDI_NEW;
    else if (*verdict == VIDI_HELD && repeated)
        *verdict = PERHAPS_MINE;
    return code;
}

/* Asks again for those that may be the owner's, with AGAIN. */
static int settle_doubts(vidi_cluster *cluster, const slice_command *command)
{
    slice_command again = *command;
    again.again = true;
    slice_keep(cluster, PERHAPS_MINE);
    if (!cluster->slice->valid)
        return VIDI_OK;
    slice_ask(cluster, &again);
    return slice_run(cluster, take_claim);
}

static int claim_slice(vidi_cluster *cluster, const slice_command *command)
{
    slice_ask(cluster, command);
    int code = slice_run(cluster, take_claim);
    if (code == VIDI_OK && !command->again)
        code = settle_doubts(cluster, command);
    return code;
}

static int claim_all(vidi_cluster *cluster, slice_command *command, vidi_claim *claims, size_t n)
{
    int code = VIDI_OK;
    for (size_t done = 0; done < n && code == VIDI_OK; done += cluster->slice->n) {
        code = slice_take(cluster, &claims[done].url, sizeof *claims, n - done);
        if (code < 0)
            return code;
        command->claims = claims + done;
        int claimed = claim_slice(cluster, command);
        for (size_t i = 0; i < cluster->slice->n; i++) {
            uint8_t verdict = cluster->slice->verdicts[i];
            claims[done + i].verdict = verdict == PERHAPS_MINE ? VIDI_UNTRIED : verdict;
        }
        code = claimed != VIDI_OK ? claimed : code;
    }
    return code;
}

int vidi_cluster_claim(vidi_cluster *cluster, const char *owner, int64_t lease_ms, vidi_claim *claims, size_t n,
                       unsigned flags)
{
    char lease[24];
    if (n && !claims)
        return cluster_fail(VIDI_EARGUMENT, "there are no claims");
    for (size_t i = 0; i < n; i++)
        claims[i].verdict = VIDI_UNTRIED;
    CLUSTER_TRY(check_owner(owner));
    CLUSTER_TRY(print_lease(lease_ms, lease));
    if (flags & ~(unsigned)VIDI_CLAIM_AGAIN)
        return cluster_fail(VIDI_EOPTION, "vidi_cluster_claim does not know one of these flags");
    CLUSTER_TRY(cluster_enter_to_write(cluster));
    slice_command command = {
        .name = WORD("VIDI.CLAIM"),
        .owner = word_of(owner),
        .lease = word_of(lease),
        .again = flags & VIDI_CLAIM_AGAIN,
        .pairs = true,
        .how = CALL_WRITES,
    };
    int code = claim_all(cluster, &command, claims, n);
    cluster_leave(cluster);
    return code;
}

/* ---- finish ---- */

enum { DONE = 1, NOT_DONE = 2, PERHAPS_DONE = 3 }; /* in place of verdicts */

static int take_finished(vidi_cluster *cluster, size_t position, const redis_reply *item, bool repeated)
{
    if (item->type == REDIS_ERROR)
        return cluster_refused(cluster, NULL, item->text);
    bool stale = item->type == REDIS_TEXT && text_is(item->text, "stale");
    if (item->type != REDIS_TEXT)
        return cluster_garbled(cluster);
    cluster->slice->verdicts[position] = !stale ? DONE : repeated ? PERHAPS_DONE : NOT_DONE;
    return VIDI_OK;
}

static int take_in_set(vidi_cluster *cluster, size_t position, const redis_reply *item, bool repeated)
{
    (void)repeated;
    if (item->type != REDIS_INTEGER)
        return item->type == REDIS_ERROR ? cluster_refused(cluster, NULL, item->text) : cluster_garbled(cluster);
    cluster->slice->verdicts[position] = item->integer ? NOT_DONE : DONE;
    return VIDI_OK;
}

/* "stale" after a lost reply: the first command has done it, if the URL is in the set, or is not to be there. */
static int settle_finished(vidi_cluster *cluster, enum vidi_finish how)
{
    slice *slice = cluster->slice;
    slice_keep(cluster, PERHAPS_DONE);
    if (!slice->valid)
        return VIDI_OK;
    if (how != VIDI_FINISH_COMMIT) {
        for (size_t i = 0; i < slice->valid; i++)
            slice->verdicts[slice->picked[i]] = DONE;
        return VIDI_OK;
    }
    slice_ask(cluster, &(slice_command){.name = WORD("VIDI.MHAS")});
    return slice_run(cluster, take_in_set);
}

static int finish_all(vidi_cluster *cluster, const slice_command *command, const vidi_str *urls, size_t n,
                      enum vidi_finish how, uint8_t *done)
{
    int code = VIDI_OK;
    for (size_t at = 0; at < n && code == VIDI_OK; at += cluster->slice->n) {
        code = slice_take(cluster, urls + at, sizeof *urls, n - at);
        if (code < 0)
            return code;
        slice_ask(cluster, command);
        int finished = slice_run(cluster, take_finished);
        if (finished == VIDI_OK)
            finished = settle_finished(cluster, how);
        for (size_t i = 0; done && i < cluster->slice->n; i++)
            done[at + i] = cluster->slice->verdicts[i] == DONE;
        code = finished != VIDI_OK ? finished : code;
    }
    return code;
}

int vidi_cluster_finish(vidi_cluster *cluster, const char *owner, const vidi_str *urls, size_t n, enum vidi_finish how,
                        uint8_t *done)
{
    if (n && !urls)
        return cluster_fail(VIDI_EARGUMENT, "there are no URLs");
    if (done && n)
        memset(done, 0, n);
    CLUSTER_TRY(check_owner(owner));
    if (how != VIDI_FINISH_COMMIT && how != VIDI_FINISH_RELEASE && how != VIDI_FINISH_DROP)
        return cluster_fail(VIDI_EOPTION, "claims are committed, released or dropped");
    CLUSTER_TRY(cluster_enter_to_write(cluster));
    slice_command command = {
        .name = how == VIDI_FINISH_COMMIT ? WORD("VIDI.COMMIT") : WORD("VIDI.RELEASE"),
        .owner = word_of(owner),
        .drop = how == VIDI_FINISH_DROP,
        .how = CALL_WRITES,
    };
    int code = finish_all(cluster, &command, urls, n, how, done);
    cluster_leave(cluster);
    return code;
}

/* ---- all claims of an owner ---- */

typedef struct owner_call {
    vidi_str name, owner, last; /* VIDI.NAME key owner IF id last */
    uint64_t sum;
} owner_call;

static void ask_for_owner(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context)
{
    const owner_call *call = context;
    (void)index;
    calls_begin_shard(&cluster->calls, shard, call->name, CALL_WRITES);
    calls_add(&cluster->calls, call->owner);
    calls_guard(&cluster->calls, shard);
    calls_add(&cluster->calls, call->last);
}

static int take_sum(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *reply, void *context)
{
    owner_call *call = context;
    (void)index;
    CLUSTER_TRY(need_reply(cluster, shard, reply, REDIS_INTEGER));
    call->sum += reply->integer > 0 ? (uint64_t)reply->integer : 0;
    return VIDI_OK;
}

static int call_for_owner(vidi_cluster *cluster, owner_call *call, uint64_t *sum)
{
    CLUSTER_TRY(cluster_enter_to_write(cluster));
    int code = for_each_shard(cluster, &(each_shard){ask_for_owner, take_sum, call});
    cluster_leave(cluster);
    if (sum)
        *sum = call->sum;
    return code;
}

int vidi_cluster_renew(vidi_cluster *cluster, const char *owner, int64_t lease_ms, uint64_t *renewed)
{
    char lease[24];
    CLUSTER_TRY(check_owner(owner));
    CLUSTER_TRY(print_lease(lease_ms, lease));
    owner_call call = {WORD("VIDI.RENEW"), word_of(owner), word_of(lease), 0};
    return call_for_owner(cluster, &call, renewed);
}

int vidi_cluster_abandon(vidi_cluster *cluster, const char *owner, uint64_t *given)
{
    CLUSTER_TRY(check_owner(owner));
    owner_call call = {WORD("VIDI.RELEASE"), word_of(owner), WORD("ALL"), 0};
    return call_for_owner(cluster, &call, given);
}

/* ---- reclaim ---- */

/* Gives the visitor URL and payload of each element: the first two of an array. *got (may be NULL) counts them. */
static int visit_all(vidi_cluster *cluster, const redis_reply *list, vidi_claim_visitor visitor, void *context,
                     uint64_t *got)
{
    for (size_t i = 0; i < list->count; i++) {
        const redis_reply *item = &list->items[i];
        if (item->type != REDIS_ARRAY || item->count < 2 || item->items[0].type != REDIS_TEXT ||
            item->items[1].type != REDIS_TEXT)
            return cluster_garbled(cluster);
        if (got)
            ++*got;
        int code = visitor ? visitor(context, item->items[0].text, item->items[1].text) : VIDI_OK;
        if (code < 0)
            return code;
    }
    return VIDI_OK;
}

/* If the reply is lost, other claims are handed out, and those of the first command expire again. */
static int reclaim(vidi_cluster *cluster, uint32_t index, vidi_str owner, vidi_str lease, vidi_str most,
                   const redis_reply **list)
{
    int code = VIDI_OK;
    if (index >= cluster->record.shards)
        return cluster_fail(VIDI_EARGUMENT, "%s: the set has %u shards, from 0 on, and no shard %u", cluster->shown,
                            cluster->record.shards, index);
    calls *calls = &cluster->calls;
    const shard *shard = shards_get(&cluster->shards, index);
    calls_clear(calls);
    calls_begin_shard(calls, shard, WORD("VIDI.RECLAIM"), CALL_WRITES);
    calls_add(calls, owner);
    calls_add(calls, lease);
    calls_guard(calls, shard);
    calls_add(calls, WORD("COUNT"));
    calls_add(calls, most);
    CLUSTER_TRY(cluster_run(cluster));
    *list = cluster_reply(cluster, 0, REDIS_ARRAY, shard, &code);
    return code;
}

int vidi_cluster_reclaim(vidi_cluster *cluster, uint32_t index, const char *owner, int64_t lease_ms, uint32_t most,
                         vidi_claim_visitor visitor, void *context, uint64_t *got)
{
    char lease[24], count[24];
    const redis_reply *list = NULL;
    if (got)
        *got = 0;
    CLUSTER_TRY(check_owner(owner));
    CLUSTER_TRY(print_lease(lease_ms, lease));
    if (most < 1 || most > RECLAIM_MOST)
        return cluster_fail(VIDI_EOPTION, "1 to %d claims can be taken over at once", RECLAIM_MOST);
    snprintf(count, sizeof count, "%u", most);
    CLUSTER_TRY(cluster_enter_to_write(cluster));
    int code = reclaim(cluster, index, word_of(owner), word_of(lease), word_of(count), &list);
    if (code == VIDI_OK)
        code = visit_all(cluster, list, visitor, context, got);
    cluster_leave(cluster);
    return code;
}

/* ---- a list ---- */

typedef struct listing {
    vidi_str owner; /* empty: everybody's */
    vidi_claim_visitor visitor;
    void *context;
    vidi_str *cursors; /* of each shard that has more: any bytes, ours; ptr NULL: there are no more */
} listing;

static void ask_for_claims(vidi_cluster *cluster, const shard *shard, const listing *listing, vidi_str count,
                           vidi_str cursor)
{
    calls *calls = &cluster->calls;
    calls_begin_shard(calls, shard, WORD("VIDI.CLAIMS"), 0);
    calls_guard(calls, shard);
    if (listing->owner.len) {
        calls_add(calls, WORD("OWNER"));
        calls_add(calls, listing->owner);
    }
    calls_add(calls, WORD("COUNT"));
    calls_add(calls, count);
    if (cursor.ptr) {
        calls_add(calls, WORD("CURSOR"));
        calls_add(calls, cursor);
    }
}

/* The value after this name in an array of names and values; NULL if there is none of the type. */
static const redis_reply *field_of(const redis_reply *map, const char *name, redis_type type)
{
    for (size_t i = 0; i + 1 < map->count; i += 2)
        if (map->items[i].type == REDIS_TEXT && text_is(map->items[i].text, name))
            return map->items[i + 1].type == type ? &map->items[i + 1] : NULL;
    return NULL;
}

/* Keeps a copy of the cursor; "0" is the end. False if there is no memory. */
static bool keep_cursor(vidi_str *kept, vidi_str cursor)
{
    free((void *)kept->ptr);
    *kept = (vidi_str){NULL, 0};
    if (text_is(cursor, "0"))
        return true;
    char *copy = malloc(cursor.len + 1);
    if (copy)
        *kept = (vidi_str){memcpy(copy, cursor.ptr, cursor.len), cursor.len};
    return copy;
}

static int take_page(vidi_cluster *cluster, const shard *shard, uint32_t index, const redis_reply *page, void *context)
{
    listing *listing = context;
    CLUSTER_TRY(need_reply(cluster, shard, page, REDIS_ARRAY));
    const redis_reply *claims = field_of(page, "claims", REDIS_ARRAY), *cursor = field_of(page, "cursor", REDIS_TEXT);
    if (!claims || !cursor)
        return cluster_garbled(cluster);
    if (!keep_cursor(&listing->cursors[index], cursor->text))
        return cluster_fail(VIDI_EMEMORY, "there is no memory for a list of claims");
    return visit_all(cluster, claims, listing->visitor, listing->context, NULL);
}

/* The first claims of each shard: few, because many shards are asked at once. */
static void ask_for_first(vidi_cluster *cluster, const shard *shard, uint32_t index, void *context)
{
    (void)index;
    ask_for_claims(cluster, shard, context, WORD("100"), (vidi_str){NULL, 0});
}

static int list_rest(vidi_cluster *cluster, listing *listing, uint32_t index)
{
    while (listing->cursors[index].ptr) {
        const shard *shard = shards_get(&cluster->shards, index);
        calls_clear(&cluster->calls);
        ask_for_claims(cluster, shard, listing, WORD("1000"), listing->cursors[index]);
        CLUSTER_TRY(cluster_run(cluster));
        CLUSTER_TRY(take_page(cluster, shard, index, cluster->calls.list[0].reply, listing));
    }
    return VIDI_OK;
}

static int list_claims(vidi_cluster *cluster, listing *listing)
{
    uint32_t count = cluster->record.shards;
    listing->cursors = calloc(count, sizeof *listing->cursors);
    if (!listing->cursors)
        return cluster_fail(VIDI_EMEMORY, "there is no memory for a list of claims");
    int code = for_each_shard(cluster, &(each_shard){ask_for_first, take_page, listing});
    for (uint32_t i = 0; i < count; i++) {
        if (code == VIDI_OK)
            code = list_rest(cluster, listing, i);
        free((void *)listing->cursors[i].ptr);
    }
    free(listing->cursors);
    return code;
}

int vidi_cluster_claims(vidi_cluster *cluster, const char *owner, vidi_claim_visitor visitor, void *context)
{
    if (!visitor)
        return cluster_fail(VIDI_EARGUMENT, "there is no visitor");
    if (owner)
        CLUSTER_TRY(check_owner(owner));
    CLUSTER_TRY(cluster_enter(cluster));
    listing listing = {owner ? word_of(owner) : WORD(""), visitor, context, NULL};
    int code = list_claims(cluster, &listing);
    cluster_leave(cluster);
    return code;
}
