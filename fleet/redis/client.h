/*
 * The inside of a client: client.c opens and closes it, topology.c finds out who has which slots, run.c sends commands
 * and reads replies, trouble.c deals with what fails, and replicas.c asks what replicas have.
 */
#ifndef VIDI_FLEET_REDIS_CLIENT_H
#define VIDI_FLEET_REDIS_CLIENT_H

#include <poll.h>
#include <stdatomic.h>

#include "fleet/redis/jobs.h"

typedef enum client_mode { MODE_UNKNOWN, MODE_SINGLE, MODE_CLUSTER } client_mode;

struct redis_client {
    address address;
    connection_how how;
    int64_t patience_ms;
    uint32_t wait_replicas;
    _Atomic int64_t hurry_ms; /* the most that patience_ms and how.reply_ms may be; 0: they are as they were set */
    reply_arena arena;
    nodes nodes;
    client_mode mode;
    node *single; /* with MODE_SINGLE */
    uint64_t random;
    int64_t now;
    /* asking for the slots */
    bool slots_wanted;
    node *slots_node; /* who is asked, or is to be asked once it is connected */
    bool slots_sent;
    int64_t slots_due;                             /* not before; while slots_node is asked: until when */
    uint64_t slots_turn, slots_failed, slots_busy; /* how often another was chosen, none and a busy one answered */
    int64_t slots_heard;                           /* when they were last told */
    /* a run */
    job *jobs;
    job_list waiting;
    size_t left; /* jobs that are neither done nor given up */
    int error;
    struct pollfd *polls;
    node **polled;
    size_t polls_room;
    char why[REDIS_WHY];
};

/* Milliseconds that never go back. */
int64_t client_time(void);
/* A random number from least to most. */
int64_t client_draw(redis_client *client, int64_t least, int64_t most);
/* How long to wait after so many failures: random, and longer each time, up to about a second. */
int64_t client_pause(redis_client *client, uint32_t failures);

/* ---- topology.c ---- */

/* The slots are to be asked for again, soon. On a single server: the next one of the address is tried. */
void client_want_slots(redis_client *client, const node *culprit);
/* Asks for the slots if that is wanted and due. When to call it again is in *due, if that is earlier. */
void client_ask_slots(redis_client *client, int64_t *due);
/* A node that has not answered for some time may have been replaced: the slots are asked for. */
void client_watch_silence(redis_client *client, int64_t *due);
void client_hear_slots(redis_client *client, node *from, const redis_reply *reply);
/* The node that a job goes to; NULL: none is known, and the slots were asked for. */
node *client_route(redis_client *client, const job *job);

/* ---- trouble.c ---- */

/* The run ends with this error: what was not sent will not be. The first reason is kept. */
void client_fail(redis_client *client, int error, const char *why);
void client_fail_memory(redis_client *client);
/* These jobs end without a reply. */
void client_give_up(redis_client *client, job_list *list);
void client_finish(redis_client *client, job *job, const redis_reply *reply);
/* The job could not be done now. It is tried again after a pause, unless patience is over. */
void client_suffer(redis_client *client, job *job, int error, const char *why);
/* A job whose command may have been executed without effect that will last: it is sent again if it may be. */
void client_send_again(redis_client *client, job *job, const char *why);
/* The node is lost for the reason in link.why; what was on its way there is sent again, if it may be. */
void client_lose(redis_client *client, node *node);

/* ---- replicas.c ---- */

/* Whether the job is done only when replicas have what it wrote. */
bool client_must_reach(const redis_client *client, const job *job);
/* Asks what replicas have, if something was written and the answer is not on its way. VIDI_OK or VIDI_EMEMORY. */
int client_ask_replicas(redis_client *client, node *node);
/* The answers. False: the node was lost. */
bool client_hear_wait(redis_client *client, node *from, const redis_reply *reply);
void client_hear_offsets(redis_client *client, node *from, const redis_reply *reply);

/* ---- run.c ---- */

/* Begins to connect, if the node is not connected and need not rest. */
void client_connect(redis_client *client, node *node);
/* Does what can be done, or waits until something can be done, but not beyond `until`. VIDI_OK or VIDI_EMEMORY. */
int client_turn(redis_client *client, int64_t until);

#endif
