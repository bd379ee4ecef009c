/*
 * Decides when the next request to a host may begin. Pure bookkeeping: the caller passes the time and sends requests.
 *
 * A queue stands for the waiting URLs of a host. Queues of one host name (http and https, two ports) and queues of one
 * address share their turns: at most `per_host` requests at a time go to a name, and to an address. The delay lies
 * between the end of one request and the beginning of the next; if several may run at a time, also between their
 * beginnings. With a delay of 0, Crawl-delay still counts.
 *
 * Times are in milliseconds of one clock, from 0. Every call takes logarithmic time in the number of queues, even if
 * thousands share one address (but a name should have few addresses).
 */
#ifndef VIDI_CRAWLER_POLITENESS_POLITENESS_H
#define VIDI_CRAWLER_POLITENESS_POLITENESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct polite_options {
    /* Milliseconds between two requests. Negative: 1 s, or 5 times as long as the last response took, up to 30 s. */
    int64_t delay;
    unsigned per_host; /* requests at a time; 0: 1 */
} polite_options;

enum {
    POLITE_DELAY = 1000,      /* milliseconds: the default delay is at least this */
    POLITE_FACTOR = 5,        /* the default delay is at least this many times what the last response took */
    POLITE_FACTOR_TOP = 30000 /* milliseconds: limit of that delay */
};

typedef struct polite polite;
typedef struct polite_queue polite_queue;

int polite_open(polite **made, const polite_options *options);
void polite_close(polite *polite); /* frees all queues, too */

/* A queue: `name` and `address` are keys that are equal for equal host names and addresses. NULL: no memory. */
polite_queue *polite_add(polite *polite, uint64_t name, uint64_t address, void *item);

/* It must have no request in flight. The delays of its name and address are remembered until they are over. */
void polite_remove(polite *polite, polite_queue *queue);

/* Crawl-delay of robots.txt, in milliseconds; 0: none. It counts from the end of the queue's last request, as if it had
 * been known then, so it also lies between robots.txt and the first page. */
void polite_crawl_delay(polite *polite, polite_queue *queue, int64_t delay);

/* Says whether the queue wants turns. A new queue wants none. It wants turns until the next call. */
void polite_want(polite *polite, polite_queue *queue, bool wants);

/* The item of the queue that has waited longest and may go now, or NULL. Takes the turn: call polite_done later. */
void *polite_next(polite *polite, int64_t now);

/* A request of the queue has ended, `took` milliseconds after it began. */
void polite_done(polite *polite, polite_queue *queue, int64_t now, int64_t took);

/* The queue's last turn was not used: nothing has been sent. The queue goes to the end of the line. */
void polite_return(polite *polite, polite_queue *queue);

/* The host is overloaded (429, 503, or it does not answer): its name and address get no turn before `until`. */
void polite_back_off(polite *polite, polite_queue *queue, int64_t until);

/* When polite_next will next give a turn, if no request ends before. INT64_MAX: no queue is waiting only for time. */
int64_t polite_when(const polite *polite);

/* When this queue may go again, not counting the delay after requests in flight. 0: at any time. */
int64_t polite_when_queue(const polite *polite, const polite_queue *queue);

/* Queues that want a turn; those of them that have no request in flight. */
size_t polite_wanting(const polite *polite);
size_t polite_waiting(const polite *polite);

/* Names and addresses that are known: those of queues, and those that still have something to wait for. */
size_t polite_known(const polite *polite);

#endif
