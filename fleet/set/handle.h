/*
 * A handle on a cluster set, and what all calls on it have in common: one at a time, commands, errors.
 */
#ifndef VIDI_FLEET_SET_HANDLE_H
#define VIDI_FLEET_SET_HANDLE_H

#include <pthread.h>
#include <string.h>
#include <sys/types.h>

#include "calls.h"
#include "leases.h"
#include "message.h"
#include "pending.h"
#include "record.h"
#include "shards.h"
#include "slice.h"
#include "vidi/cluster.h"
#include "vidi/url.h"

enum {
    OWNER_MOST = 1024,
    LEASE_DEFAULT = 60000,
    REPLY_DEFAULT = 30000,
    PATIENCE_DEFAULT = 60000,
    CONNECT_MS = 10000,
    KEY_ROOM = SET_NAME + 16
};
#define LEASE_MOST INT64_C(1000000000000)

struct vidi_cluster {
    pid_t process; /* that has made it: a child of it may only close it */
    pthread_mutex_t turn;
    redis_client *client;
    char *name;
    char shown[VIDI_CLUSTER_ADDRESS_ROOM]; /* the address without its password */
    char record_key[KEY_ROOM], state_key[KEY_ROOM];
    int slot; /* of these two */

    /* how this process uses the set */
    char *address, *ca_file, *cert_file, *key_file; /* copies, for the client and the thread of the leases */
    redis_options options;
    uint32_t flags, invalid;
    char owner[OWNER_MOST + 1];
    char lease[24];
    int64_t lease_ms;

    /* of an open set */
    record record;
    shards shards;
    vidi_canon *canon;
    bool form_is_url; /* servers get canonical forms; otherwise URLs as they are, because a form cannot be read again */

    calls calls;
    slice *slice;
    pending pending;
    leases *leases; /* NULL: nothing was claimed yet */
    uint64_t stale;
    uint64_t unsure;  /* claims before this number may have been committed by a command without a reply */
    bool unreachable; /* the last run of commands got no replies */
};

/* Words of a command on record or state, which stay as long as the handle. */
static inline vidi_str word_of(const char *text)
{
    return (vidi_str){text, strlen(text)};
}

/* Connects to the servers. The handle is not of a set yet. */
int cluster_connect(vidi_cluster **made, const char *address, const vidi_cluster_access *access);

/* Makes it a handle on the set with this record. */
int cluster_take_record(vidi_cluster *cluster, const record *record);

/* Ends the connections and frees everything. NULL is fine. */
void cluster_free(vidi_cluster *cluster);

/* Waits for the handle's turn. VIDI_OK; otherwise cluster_leave must not be called. */
int cluster_enter(vidi_cluster *cluster);
/* The same for calls that change the set. */
int cluster_enter_to_write(vidi_cluster *cluster);
void cluster_leave(vidi_cluster *cluster);

/* ---- commands ---- */

/* Runs cluster->calls. Unless it returns VIDI_OK, some have no reply. */
int cluster_run(vidi_cluster *cluster);
/* Says once more why redis_run has failed with this code, which it returns. */
int cluster_run_failed(vidi_cluster *cluster, int code);

/* The reply to call number i: one of this type, or NULL. After an error of the server *code (if VIDI_OK) has it. */
const redis_reply *cluster_reply(vidi_cluster *cluster, size_t i, redis_type type, const shard *shard, int *code);

/* What an error of a server means: a code, and the sentence is kept. `shard`: NULL if the key is none of a shard. */
int cluster_refused(vidi_cluster *cluster, const shard *shard, vidi_str error);

/* A reply that has not the form that the protocol demands. */
int cluster_garbled(vidi_cluster *cluster);

/* True if the text begins with the word; if it is the word. */
static inline bool text_begins(vidi_str text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && memcmp(text.ptr, word, len) == 0;
}
static inline bool text_is(vidi_str text, const char *word)
{
    return text.len == strlen(word) && memcmp(text.ptr, word, text.len) == 0;
}

#endif
