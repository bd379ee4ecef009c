/*
 * A client for a Redis or Valkey server or cluster, which is all that the rest of fleet/ knows of the network.
 *
 * Commands go out in pipelines, one connection to each node, and replies come back in the order of the commands.
 * redis_run sends a list of commands wherever their slots are and returns when each has its reply. On the way it
 * follows MOVED and ASK, waits while a server is loading, a slot is on its way (TRYAGAIN), the cluster is down or a
 * primary is being replaced, asks for the slots again at random intervals, and connects anew. What cannot be dealt with
 * that way is a reply: errors such as WRONGSET, WRONGTYPE, NOPERM or OOM.
 *
 * A lost reply leaves it open whether a command was executed. Commands that may be executed twice say so (`repeatable`)
 * and are sent again, and `repeated` then tells the caller. The others end without a reply.
 *
 * A single server is the case of one node that has all slots; a server that is not in cluster mode is asked once.
 */
#ifndef VIDI_FLEET_REDIS_REDIS_H
#define VIDI_FLEET_REDIS_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vidi/vidi.h"

enum { REDIS_SLOTS = 16384, REDIS_ANY_NODE = -1, REDIS_WHY = 512 };

typedef struct redis_client redis_client;

/* How to connect: as in vidi_cluster_access. Strings stay the caller's and must stay until redis_close. */
typedef struct redis_options {
    uint32_t wait_replicas;
    int64_t connect_ms, reply_ms, patience_ms;
    const char *ca_file, *cert_file, *key_file;
} redis_options;

/*
 * *name: the last part of the address, for the caller to free. `why`, room REDIS_WHY, gets a sentence after an error. A
 * server that is still loading is waited for, but if no host of the address answers, that is VIDI_EIO at once: the
 * address may be wrong.
 */
int redis_open(redis_client **made, const char *address, const redis_options *options, char **name, char *why);
void redis_close(redis_client *client);

typedef enum redis_type { REDIS_NIL, REDIS_TEXT, REDIS_ERROR, REDIS_INTEGER, REDIS_ARRAY } redis_type;

/* Status replies are REDIS_TEXT. Maps, sets and pushes of RESP3 do not occur: connections speak RESP2. */
typedef struct redis_reply {
    redis_type type;
    vidi_str text;   /* of REDIS_TEXT and REDIS_ERROR */
    int64_t integer; /* of REDIS_INTEGER */
    const struct redis_reply *items;
    size_t count; /* of REDIS_ARRAY */
} redis_reply;

typedef struct redis_call {
    const vidi_str *words;
    size_t count;
    int slot;        /* redis_slot of its key; REDIS_ANY_NODE: whichever primary */
    bool repeatable; /* may be executed twice */
    bool writes;     /* with wait_replicas: its reply counts only when so many replicas have it */
    /* results */
    const redis_reply *reply; /* NULL: none, because redis_run has failed before. Good until the next redis_run */
    bool repeated;            /* a reply to it was lost, and it was sent again */
} redis_call;

/*
 * With wait_replicas, a write that was sent again is confirmed by INFO replication as well as by WAIT, which knows only
 * what its own connection has written; a user who may not ask for that gets what WAIT says.
 *
 * VIDI_OK if each call has a reply, which may be an error of the server; otherwise VIDI_EIO, VIDI_EBUSY (patience is
 * over while servers were there) or VIDI_EMEMORY, and redis_why has the sentence. Calls of one slot are executed in
 * their order, unless one of them is redirected, delayed or repeated.
 */
int redis_run(redis_client *client, redis_call *calls, size_t n);
const char *redis_why(const redis_client *client);

/*
 * From now on patience and the wait for one reply are at most `ms`: for a program that has been told to end. May be called
 * by any thread while another one is inside redis_run.
 */
void redis_hurry(redis_client *client, int64_t ms);

/* The slot of a key: CRC16 of what is between the first braces, if there is something. */
int redis_slot(vidi_str key);
/* The number of primaries that are known. */
size_t redis_nodes(const redis_client *client);
/* Which of them has the slot, from 0; asks for the slots if that is not known. Negative: nobody, or an error. */
int redis_node_of(redis_client *client, int slot);
bool redis_is_cluster(const redis_client *client);

#endif
