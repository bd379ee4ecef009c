/*
 * Shards into memory (VIDI.DUMP), and other sets into the cluster (VIDI.MADD).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "add.h"
#include "vidi/transfer.h"

/* ---- out ---- */

enum { ATTEMPTS = 8 }; /* to read a shard from which something is removed meanwhile */

/* Asks for the piece at the cursor; *reply has the next cursor and the piece. */
static int ask_for_piece(vidi_cluster *cluster, const shard *shard, const char *cursor, const redis_reply **reply)
{
    calls *calls = &cluster->calls;
    int code = VIDI_OK;
    calls_clear(calls);
    calls_begin_shard(calls, shard, WORD("VIDI.DUMP"), 0);
    calls_add(calls, word_of(cursor));
    calls_guard(calls, shard);
    calls_add(calls, WORD("MOST"));
    calls_add(calls, WORD("1mb"));
    CLUSTER_TRY(cluster_run(cluster));
    *reply = cluster_reply(cluster, 0, REDIS_ARRAY, shard, &code);
    if (*reply && ((*reply)->count != 2 || (*reply)->items[0].type != REDIS_TEXT ||
                   (*reply)->items[1].type != REDIS_TEXT || (*reply)->items[0].text.len >= 24))
        return cluster_garbled(cluster);
    return code;
}

static int read_pieces(vidi_cluster *cluster, const shard *shard, vidi_set **set)
{
    char cursor[24] = "0";
    int more = 1;
    *set = NULL;
    do {
        const redis_reply *reply;
        CLUSTER_TRY(ask_for_piece(cluster, shard, cursor, &reply));
        vidi_str next = reply->items[0].text, piece = reply->items[1].text;
        int code = vidi_piece_read(set, piece.ptr, piece.len, NULL, &more);
        if (code != VIDI_OK)
            return cluster_fail(code, "%s: shard %.*s: %s", cluster->shown, (int)shard->key_len, shard->key,
                                vidi_message());
        memcpy(cursor, next.ptr, next.len);
        cursor[next.len] = 0;
    } while (strcmp(cursor, "0") != 0);
    return more ? cluster_garbled(cluster) : VIDI_OK;
}

/* After a removal or a rotation, the server refuses the next piece, or the pieces do not fit together. */
static int read_shard(vidi_cluster *cluster, const shard *shard, vidi_set **set)
{
    int code = VIDI_OK;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        code = read_pieces(cluster, shard, set);
        if (code == VIDI_OK)
            return code;
        vidi_close(*set);
        *set = NULL;
        bool begin_again = code == VIDI_EFORMAT || (code == VIDI_EIO && !cluster->unreachable);
        if (!begin_again)
            break;
    }
    return code;
}

int vidi_cluster_read_shard(vidi_cluster *cluster, uint32_t index, vidi_set **set)
{
    if (!set)
        return cluster_fail(VIDI_EARGUMENT, "there is no room for the set");
    *set = NULL;
    CLUSTER_TRY(cluster_enter(cluster));
    int code;
    if (index >= cluster->record.shards)
        code = cluster_fail(VIDI_EARGUMENT, "%s: the set has %u shards, from 0 on, and no shard %u", cluster->shown,
                            cluster->record.shards, index);
    else
        code = read_shard(cluster, shards_get(&cluster->shards, index), set);
    cluster_leave(cluster);
    return code;
}

/* ---- in ---- */

/* URLs of the other set that are on their way. */
typedef struct merging {
    vidi_cluster *cluster;
    char *text;
    size_t used, room;
    vidi_str urls[SLICE_URLS];
    size_t count;
    int code;
} merging;

static int take_added(vidi_cluster *cluster, size_t position, const redis_reply *item, bool repeated)
{
    (void)position, (void)repeated;
    if (item->type == REDIS_ERROR)
        return cluster_refused(cluster, NULL, item->text);
    return item->type == REDIS_INTEGER ? VIDI_OK : cluster_garbled(cluster);
}

/* Sends what has come together. Adding a URL twice does no harm, so a lost reply is no matter. */
static int send_merged(merging *merging)
{
    vidi_cluster *cluster = merging->cluster;
    for (size_t done = 0; done < merging->count; done += cluster->slice->n) {
        CLUSTER_TRY(slice_take(cluster, merging->urls + done, sizeof *merging->urls, merging->count - done));
        slice_ask(cluster, &(slice_command){.name = WORD("VIDI.MADD"), .how = CALL_WRITES});
        CLUSTER_TRY(slice_run(cluster, take_added));
    }
    merging->count = merging->used = 0;
    return VIDI_OK;
}

static int keep_url(merging *merging, vidi_str url)
{
    if (url.len > merging->room) { /* nothing else is kept now */
        char *larger = realloc(merging->text, url.len);
        if (!larger)
            return cluster_fail(VIDI_EMEMORY, "there is no memory for a URL of %zu bytes", url.len);
        merging->text = larger;
        merging->room = url.len;
    }
    if (url.len)
        memcpy(merging->text + merging->used, url.ptr, url.len);
    merging->urls[merging->count++] = (vidi_str){merging->text + merging->used, url.len};
    merging->used += url.len;
    return VIDI_OK;
}

/* For vidi_iterate: 1 ends the walk. */
static int take_entry(void *context, const vidi_entry *entry)
{
    merging *merging = context;
    if (merging->count == SLICE_URLS || entry->url.len > merging->room - merging->used)
        merging->code = send_merged(merging);
    if (merging->code == VIDI_OK)
        merging->code = keep_url(merging, entry->url);
    return merging->code != VIDI_OK;
}

static int merge(vidi_cluster *cluster, const vidi_set *from)
{
    merging *merging = malloc(sizeof *merging);
    char *text = malloc(SLICE_BYTES);
    if (!merging || !text) {
        free(merging);
        free(text);
        return cluster_fail(VIDI_EMEMORY, "there is no memory to merge");
    }
    merging->cluster = cluster;
    merging->text = text;
    merging->room = SLICE_BYTES;
    merging->used = merging->count = 0;
    merging->code = VIDI_OK;
    int walked = vidi_iterate(from, take_entry, merging);
    int code = merging->code;
    if (code == VIDI_OK)
        code = walked < 0 ? cluster_fail_as_set(walked) : send_merged(merging);
    free(merging->text);
    free(merging);
    return code;
}

/* Whether the set can be merged; the cluster's policy for invalid lines is its own, but lines that are there are kept. */
static int check_source(const vidi_cluster *cluster, const vidi_set *from)
{
    vidi_stats stats = {.size = sizeof stats};
    int code = vidi_stat(from, &stats);
    if (code != VIDI_OK)
        return cluster_fail_as_set(code);
    if (!(stats.can & VIDI_KEEPS_URLS))
        return cluster_fail(VIDI_ECANNOT,
                            "a set of kind %s keeps no URLs, so nobody knows which shards of %s they "
                            "belong to; add the URLs themselves",
                            stats.kind, cluster->shown);
    if (!cluster->form_is_url)
        return cluster_fail(VIDI_ECANNOT,
                            "%s: what the other set keeps in canonical form %s are no URLs any more; add "
                            "the URLs themselves",
                            cluster->shown, cluster->record.canon);
    if (strcmp(stats.canon, cluster->record.canon) != 0)
        return cluster_fail(VIDI_EDIFFERS, "%s: one set has canonical form %s, the other %s", cluster->shown,
                            cluster->record.canon, stats.canon);
    return VIDI_OK;
}

int vidi_cluster_merge(vidi_cluster *cluster, const vidi_set *from)
{
    if (!from)
        return cluster_fail(VIDI_EARGUMENT, "there is no set to merge");
    CLUSTER_TRY(cluster_enter_to_write(cluster));
    uint32_t invalid = cluster->invalid;
    cluster->invalid = VIDI_KEEP_INVALID;
    int code = check_source(cluster, from);
    if (code == VIDI_OK)
        code = merge(cluster, from);
    cluster->invalid = invalid;
    cluster_leave(cluster);
    return code;
}
