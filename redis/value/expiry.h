/*
 * Previous epochs that are dropped at a given time.
 *
 * VIDI.ROTATE keeps the last epoch, which takes as much memory as it did before, and VIDI.EXPIREAT says until when.
 * Every server, primary or replica, drops it by its own clock: the time is replicated, the dropping is not. That cannot
 * make two servers differ in what they hold, because the previous epoch never influences the answers of the current
 * one; and a replica that has lost its primary does not keep the memory.
 */
#ifndef REDIS_EXPIRY_H
#define REDIS_EXPIRY_H

#include <stdbool.h>
#include <stdint.h>

struct value;

/* A value's links in the list of values that wait; all zero if it is not in the list. */
typedef struct expiry_link {
    struct value *next, **at;
} expiry_link;

/* Sets the time at which the previous epoch is dropped, in Unix milliseconds; 0: never. */
void expiry_set(struct value *value, int64_t until);

/* Call this before a value is freed, from any thread. */
void expiry_forget(struct value *value);

/* Whether there is a previous epoch whose time is not over. */
bool expiry_has_previous(const struct value *value);

/* Drops the previous epochs whose time has come. Called several times a second. */
void expiry_run(void);

#endif
