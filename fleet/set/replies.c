/*
 * What servers answer: errors become codes and sentences that say what to do.
 */
#include <stdio.h>

#include "handle.h"

int cluster_run(vidi_cluster *cluster)
{
    calls *calls = &cluster->calls;
    if (!calls_finish(calls)) {
        calls_clear(calls);
        return cluster_fail(VIDI_EMEMORY, "there is no memory for the commands of a batch");
    }
    if (!calls->count)
        return VIDI_OK;
    int code = redis_run(cluster->client, calls->list, calls->count);
    cluster->unreachable = code == VIDI_EIO || code == VIDI_EBUSY;
    return code == VIDI_OK ? code : cluster_run_failed(cluster, code);
}

int cluster_run_failed(vidi_cluster *cluster, int code)
{
    return cluster_fail(code, "%s: %s", cluster->shown, redis_why(cluster->client));
}

/* What to do about an error, for errors that begin with this word. */
typedef struct meaning {
    const char *word;
    int code;
    const char *advice;
} meaning;

static const meaning meanings[] = {
    {"NOSET", VIDI_EDAMAGED,
     "it was removed, or a server that lacked it has taken its place; 'vidi check' lists all that is missing"},
    {"WRONGSET", VIDI_EDIFFERS, "remove what is there, or choose another name"},
    {"WRONGTYPE", VIDI_EDIFFERS, "remove what is there, or choose another name"},
    {"NOPERM", VIDI_EIO, "the user of the address needs this permission (ACL SETUSER)"},
    {"NOAUTH", VIDI_EIO, "the address needs a password"},
    {"OOM", VIDI_ELIMIT, "the server has reached its maxmemory"},
    {"MISCONF", VIDI_EIO, "the server cannot save to its disk"},
    {"ERR unknown command", VIDI_ECANNOT, "load redisvidi.so into each server, in a version that has this command"},
    {"ERR the set would exceed", VIDI_ELIMIT, "VIDI.MAXMEMORY raises the limit"},
    {"ERR there is no memory", VIDI_EMEMORY, "the server has none left"},
};

/* How much of an error may be shown. A server that does not know a command repeats its words, and so the set's key. */
static size_t quotable(vidi_str error)
{
    static const char repeats[] = ", with args";
    const char *end = memmem(error.ptr, error.len, repeats, sizeof repeats - 1);
    size_t length = end ? (size_t)(end - error.ptr) : error.len;
    return length < 300 ? length : 300;
}

int cluster_refused(vidi_cluster *cluster, const shard *shard, vidi_str error)
{
    int quoted = (int)quotable(error), code = VIDI_EIO;
    const char *advice = NULL;
    char where[SHARD_KEY + 40] = "";
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings && !advice; i++)
        if (text_begins(error, meanings[i].word)) {
            code = meanings[i].code;
            advice = meanings[i].advice;
        }
    if (shard)
        snprintf(where, sizeof where, "shard %.*s: ", (int)shard->key_len, shard->key);
    return cluster_fail(code, "%s: %s%.*s%s%s", cluster->shown, where, quoted, error.ptr, advice ? "; " : "",
                        advice ? advice : "");
}

int cluster_garbled(vidi_cluster *cluster)
{
    return cluster_fail(VIDI_EIO, "%s: a server answers something else than the module's commands do", cluster->shown);
}

const redis_reply *cluster_reply(vidi_cluster *cluster, size_t i, redis_type type, const shard *shard, int *code)
{
    const redis_reply *reply = cluster->calls.list[i].reply;
    if (!reply || reply->type == type)
        return reply;
    if (*code == VIDI_OK)
        *code = reply->type == REDIS_ERROR ? cluster_refused(cluster, shard, reply->text) : cluster_garbled(cluster);
    return NULL;
}
