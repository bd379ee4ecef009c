/*
 * What politeness remembers. A slot is a host name or an address: its requests in flight, and the time before which it
 * gets no further one. A pair is a name at an address; its queues are equal in all that matters to politeness.
 *
 *     due: heap of addresses            by the time when the first of its pairs can have a turn
 *       address: heap of pairs          by the time when the pair could go if the address were free
 *         pair: list of queues          that want a turn, longest waiting first
 *
 * A change at an address moves one node of `due`, however many queues share the address. A change at a name moves one
 * node for each of its addresses, and a name has few: it was resolved once, or once more when the first answer was old.
 */
#ifndef VIDI_CRAWLER_POLITENESS_SLOTS_H
#define VIDI_CRAWLER_POLITENESS_SLOTS_H

#include <sys/queue.h>

#include "crawler/politeness/politeness.h"
#include "crawler/politeness/timer_heap.h"

typedef struct polite_pair polite_pair;

typedef struct polite_slot {
    timer_node node; /* first, so that a node is its slot: of an address in `due`; without queues, in `idle` */
    uint64_t key;
    bool is_name;
    int64_t not_before; /* after the end of a request, or because of a back-off */
    int64_t spaced;     /* after the beginning of a request, if several may run at a time */
    uint64_t latest;    /* the turn that `spaced` is about */
    unsigned running;   /* requests in flight */
    size_t pair_count;
    polite_pair *pairs; /* of a name: all */
    timer_heap waiting; /* of an address: pairs with a queue that wants a turn, whose name may have another request */
} polite_slot;

typedef TAILQ_HEAD(polite_list, polite_queue) polite_list;

struct polite_pair {
    timer_node node; /* first, so that a node is its pair; in address->waiting */
    polite_slot *name, *address;
    polite_pair *next; /* of the same name */
    polite_list wanting, resting;
};

struct polite_queue {
    polite_pair *pair;
    TAILQ_ENTRY(polite_queue) link; /* in one of the pair's lists */
    void *item;
    bool wants;
    unsigned running;
    int64_t since; /* when it got its last turn or began to want one */
    uint64_t turn; /* a number that rises at the same moments */
    int64_t crawl_delay;
    bool asked;
    int64_t ended; /* when its last request did, if it was asked */
};

struct polite {
    polite_options options;
    int64_t now;             /* the latest time that a caller passed */
    uint64_t turns;          /* counts turns and beginnings of wanting */
    size_t wanting;          /* queues */
    size_t waiting;          /* queues that want a turn and have no request in flight */
    void *names, *addresses; /* trees of slots by their keys, as tsearch makes them */
    size_t slot_count;
    timer_heap due;  /* addresses that have a pair waiting, and room for a request */
    timer_heap idle; /* slots without queues, by the time when they may be forgotten */
};

/* The pair for a name and an address, found or made. NULL: no memory. */
polite_pair *polite_pair_get(polite *polite, uint64_t name, uint64_t address);

/* Forgets the pair if it has no queues, and its slots if they have nothing to wait for. */
void polite_pair_release(polite *polite, polite_pair *pair);

/* Forgets the slots without queues whose time has come. */
void polite_forget(polite *polite);

/* Frees all slots, pairs and queues. */
void polite_free_slots(polite *polite);

/* The time before which the slot gets no request. */
static inline int64_t polite_slot_time(const polite_slot *slot)
{
    return slot->not_before > slot->spaced ? slot->not_before : slot->spaced;
}

#endif
