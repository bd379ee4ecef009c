/*
 * A log of what was asked of politeness and what it answered, and a checker that knows only the rules and the log. It
 * keeps, for each queue, name and address, what the log says about it, and looks at all queues for every answer.
 */
#ifndef TESTS_CRAWLER_POLITENESS_POLITE_LOG_H
#define TESTS_CRAWLER_POLITENESS_POLITE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "crawler/politeness/politeness.h"

typedef enum log_kind {
    LOG_ADD,         /* queue, name, address */
    LOG_REMOVE,      /* queue */
    LOG_WANT,        /* queue, value: 0 or 1 */
    LOG_CRAWL_DELAY, /* queue, value: milliseconds */
    LOG_BACK_OFF,    /* queue, value: until */
    LOG_START,       /* queue */
    LOG_END,         /* queue, value: how long it took */
    LOG_RETURN,      /* queue */
    LOG_IDLE,        /* nobody got a turn. value: what polite_when says */
    LOG_LOOK         /* queue, value: what polite_when_queue says */
} log_kind;

typedef struct log_event {
    log_kind kind;
    int64_t time;
    size_t queue, name, address;
    int64_t value;
} log_event;

typedef struct polite_log {
    polite_options options;
    log_event *events;
    size_t count, room;
} polite_log;

void log_append(polite_log *log, log_event event);
void log_free(polite_log *log);

enum { LOG_QUEUES = 4096, LOG_SLOTS = 256 }; /* queues in all, names, addresses: at most */

/* Is everything as it should be? False: `why` (room 200) tells what is not, and where. */
bool log_check(const polite_log *log, char *why);

#endif
