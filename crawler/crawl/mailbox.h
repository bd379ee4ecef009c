/*
 * How the threads of a crawl hand things to each other: a list behind a lock. Many parcels go in or come out under one
 * lock, and a thread that is busy is not woken up.
 *
 * A mailbox has no limit of its own. Instead the spider starts no request while too much is fetched and not committed
 * (CRAWL_WEIGHT, CRAWL_PAGES), which bounds all mailboxes together and cannot deadlock.
 */
#ifndef VIDI_CRAWLER_CRAWL_MAILBOX_H
#define VIDI_CRAWLER_CRAWL_MAILBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What begins every struct that is handed over. */
typedef struct parcel {
    struct parcel *next;
    int kind; /* parcel_kind in inside.h */
} parcel;

/* A list of parcels in one thread's hands. Begins as {0}. */
typedef struct parcels {
    parcel *first, *last;
    size_t count;
} parcels;

void parcels_add(parcels *to, parcel *one);
parcel *parcels_remove(parcels *from); /* the first; NULL: none */
void parcels_join(parcels *to, parcels *from);

typedef struct mailbox {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    parcels list;
    unsigned waiting; /* threads in mailbox_take */
    bool closed, poked;
} mailbox;

int mailbox_open(mailbox *of); /* VIDI_OK or VIDI_ESYSTEM */
void mailbox_destroy(mailbox *of);

/* Puts the whole list in, which is then empty. False if the mailbox is closed: the list stays as it is. */
bool mailbox_put(mailbox *to, parcels *list);

/*
 * Appends up to `most` parcels to `list`; waits for the first one at most `ms` milliseconds of real time (negative: for
 * ever). False if there will never be any: it is closed and empty. Returns with nothing after mailbox_poke.
 */
bool mailbox_take(mailbox *from, parcels *list, size_t most, int64_t ms);

/* Ends a mailbox_take that waits, or the next one. */
void mailbox_poke(mailbox *of);

/* What is in it can still be taken; nothing more can be put in. */
void mailbox_close(mailbox *of);

#endif
