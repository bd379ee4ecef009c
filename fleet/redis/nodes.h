/*
 * The servers that a client knows, and who has which slots.
 *
 * A node stays where it is in memory while a run goes on. Nodes that CLUSTER SLOTS does not list any more are removed
 * between runs, except those of the address.
 */
#ifndef VIDI_FLEET_REDIS_NODES_H
#define VIDI_FLEET_REDIS_NODES_H

#include "fleet/redis/connection.h"

enum { NODES_MOST = 4096 };

typedef struct job job; /* jobs.h */

typedef struct job_list {
    job *first, *last;
} job_list;

/* What a reply that is awaited belongs to. */
typedef enum flight_kind { FLIGHT_CALL, FLIGHT_ASKING, FLIGHT_WAIT, FLIGHT_OFFSETS, FLIGHT_SLOTS } flight_kind;

typedef struct flight {
    flight_kind kind;
    job *job;     /* of FLIGHT_CALL */
    uint64_t end; /* of the command, as connection.put and connection.handed count */
} flight;

/* How far writes are on their way to replicas. */
typedef struct writing {
    bool is_new;     /* something was written since the last WAIT */
    bool has_asked;  /* WAIT is on its way: never two of them, because each may take its time */
    bool has_again;  /* something was sent again, and perhaps changed nothing this time: WAIT does not see that */
    bool is_reached; /* what WAIT asked for; has_again: the offset is still to be reached */
    int64_t offset;  /* with has_again: of the primary after the last such command; negative: not known yet */
} writing;

typedef struct node {
    char *host;
    uint16_t port;
    bool is_seed;   /* of the address */
    bool is_listed; /* by CLUSTER SLOTS, as primary or as replica */
    bool has_slots; /* a primary */
    int number;     /* of a primary, from 0 */
    connection link;
    uint32_t failures; /* since it last answered */
    int64_t rests_until;
    flight *flights; /* a ring, oldest first */
    size_t flights_first, flights_count, flights_room;
    job_list queue;    /* to be sent */
    job_list answered; /* written; it is not known yet whether replicas have it */
    writing writing;
} node;

typedef struct nodes {
    node **all;
    size_t count;
    size_t primaries;
    node *owners[REDIS_SLOTS]; /* NULL: not known */
} nodes;

void nodes_free(nodes *nodes);
/* The node of that host and port, new if need be; NULL: there are too many, or no memory. */
node *nodes_get(nodes *nodes, const char *host, size_t length, uint16_t port);
/* Forgets those that are neither in the address nor listed. Nothing may be on its way. */
void nodes_prune(nodes *nodes);

void nodes_set_owner(nodes *nodes, int slot, node *owner);
/* Takes the answer to CLUSTER SLOTS, which `asked` gave. VIDI_OK, VIDI_EFORMAT or VIDI_EMEMORY. */
int nodes_take_slots(nodes *nodes, const redis_reply *reply, const node *asked);
/* The node that an error MOVED or ASK of `from` names, and the slot; NULL: it cannot be read. */
node *nodes_redirected(nodes *nodes, vidi_str error, const node *from, int *slot);

/* Puts a command into the node's connection, and notes that its reply is awaited. VIDI_OK or VIDI_EMEMORY. */
int node_put(node *node, flight_kind kind, job *job, const vidi_str *words, size_t count, int64_t now);
/* What the next reply belongs to. */
flight node_take_flight(node *node);
/* Something was written that replicas must have. */
void node_has_written(node *node, bool again);

#endif
