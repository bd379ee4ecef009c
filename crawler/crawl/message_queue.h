/*
 * How the threads of a crawl send each other messages: a list with a lock. Many messages go in or come out under one
 * lock, and a thread that is busy is not woken up.
 *
 * A message queue has no limit of its own. Instead the fetcher starts no request while too much is fetched and not
 * committed (CRAWL_WEIGHT, CRAWL_PAGES), which bounds all message queues together and cannot deadlock.
 */
#ifndef VIDI_CRAWLER_CRAWL_MESSAGE_QUEUE_H
#define VIDI_CRAWLER_CRAWL_MESSAGE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What begins every struct that is handed over. */
typedef struct message {
    struct message *next;
    int kind; /* message_kind in crawl_state.h */
} message;

/* A list of messages in one thread's hands. Begins as {0}. */
typedef struct messages {
    message *first, *last;
    size_t count;
} messages;

void messages_add(messages *to, message *one);
message *messages_remove(messages *from);                     /* the first; NULL: none */
void messages_remove_one(messages *from, const message *one); /* which is in it */
void messages_join(messages *to, messages *from);

typedef struct message_queue {
    pthread_mutex_t lock;
    pthread_cond_t ready;
    messages list;
    unsigned waiting; /* threads in message_queue_take */
    bool closed, woken;
} message_queue;

int message_queue_open(message_queue *queue); /* VIDI_OK or VIDI_ESYSTEM */
void message_queue_destroy(message_queue *queue);

/* Puts the whole list in, which is then empty. False if the message queue is closed: the list stays as it is. */
bool message_queue_put(message_queue *to, messages *list);

/*
 * Appends up to `most` messages to `list`; waits for the first one at most `ms` milliseconds of real time (negative:
 * for ever). False if there will never be any: it is closed and empty. Returns with nothing after message_queue_wake.
 */
bool message_queue_take(message_queue *from, messages *list, size_t most, int64_t ms);

/* Ends a message_queue_take that waits, or the next one. */
void message_queue_wake(message_queue *queue);

/* What is in it can still be taken; nothing more can be put in. */
void message_queue_close(message_queue *queue);

#endif
