/*
 * Who may be asked when? Pure bookkeeping: the caller tells the time and does the asking.
 *
 * A queue is a host's waiting URLs. Queues of one host name (http and https, two ports) and queues of one address share
 * their turns: at most `per_host` requests at a time go to a name, and to an address, and between two of them lies the
 * delay: from the end of one to the beginning of the next, and, if several may run at a time, also from beginning to
 * beginning. A delay of 0 is no delay; Crawl-delay still counts.
 *
 * Times are in milliseconds of one clock, from 0. Every call takes time that grows with the logarithm of the number of
 * queues, also if thousands share one address (but a name should have few addresses).
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
    POLITE_DELAY = 1000,      /* the default */
    POLITE_FACTOR = 5,        /* times what the last response took, */
    POLITE_FACTOR_TOP = 30000 /* up to this */
};

typedef struct polite polite;
typedef struct polite_queue polite_queue;

int polite_open(polite **made, const polite_options *options);
void polite_close(polite *of); /* and all queues */

/* A queue: `name` and `address` are keys that are equal for equal host names and addresses. NULL: no memory. */
polite_queue *polite_add(polite *of, uint64_t name, uint64_t address, void *item);

/* It must have no request in flight. What its name and address have to wait for stays known until it is over. */
void polite_remove(polite *of, polite_queue *queue);

/* Crawl-delay of robots.txt, in milliseconds; 0: none. It counts from the end of the queue's last request, as if it had
 * been known then, so it also lies between robots.txt and the first page. */
void polite_crawl_delay(polite *of, polite_queue *queue, int64_t delay);

/* Does the queue want turns? A queue starts without wanting any. It wants more until it says that it does not. */
void polite_want(polite *of, polite_queue *queue, bool wants);

/* The item of a queue whose turn has come, or NULL. Takes the turn: polite_done must follow. Longest waiting first. */
void *polite_next(polite *of, int64_t now);

/* A request of the queue has ended, `took` milliseconds after it began. */
void polite_done(polite *of, polite_queue *queue, int64_t now, int64_t took);

/* The queue's last turn was not used after all: nothing has been sent. It goes to the end of the line. */
void polite_return(polite *of, polite_queue *queue);

/* The host is overloaded (429, 503, or it does not answer): its name and address get no turn before `until`. */
void polite_back_off(polite *of, polite_queue *queue, int64_t until);

/* When polite_next will next give a turn, if nothing ends before. INT64_MAX: nobody is waiting for time alone. */
int64_t polite_when(const polite *of);

/* When this queue may be asked again, by what is known now: the end of a request in flight is not. 0: at any time. */
int64_t polite_when_queue(const polite *of, const polite_queue *queue);

/* Queues that want a turn; those of them that have no request in flight. */
size_t polite_wanting(const polite *of);
size_t polite_waiting(const polite *of);

/* Names and addresses that are known: those of queues, and those that still have something to wait for. */
size_t polite_known(const polite *of);

#endif
