/*
 * What a run has to do: a job for each call. A job is waiting (until it is due), in a node's queue, in flight, answered
 * (its write still has to reach replicas), or done.
 *
 *     waiting --route--> queue of a node --fill--> in flight --reply--> done, or answered --WAIT--> done
 *        ^                    |                        |                              |
 *        +--------------------+------------------------+------------------------------+   trouble
 */
#ifndef VIDI_FLEET_REDIS_JOBS_H
#define VIDI_FLEET_REDIS_JOBS_H

#include "fleet/redis/nodes.h"

struct job {
    redis_call *call;
    job *next;       /* in its list */
    node *ask;       /* where to go once, after ASKING; NULL: where the slot is */
    int64_t due;     /* of a waiting job */
    int64_t trouble; /* since when it has been failing; 0: it has not */
    uint32_t tries, moves;
    const redis_reply *reply; /* of an answered job */
};

void job_append(job_list *list, job *job);
job *job_take(job_list *list);

/* What an error of a server asks for. */
typedef enum fault {
    FAULT_FINAL, /* a reply as any other */
    FAULT_MOVED,
    FAULT_ASK,
    FAULT_LATER, /* the same server will do it, later */
    FAULT_SLOTS, /* so will perhaps another server: the slots are asked for */
    FAULT_ROLE   /* this is not a primary: the same, and what it was sent may be lost */
} fault;

fault fault_of(vidi_str error);

#endif
