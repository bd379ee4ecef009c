/*
 * Commands for a redis_client as lines of text, and replies likewise.
 *
 * A command is flags, a space, and words with spaces between them. Flags are 'r' (repeatable), 'w' (writes), 'a' (any
 * node; otherwise the second word is the key), or '-'. A word (LENGTH) is made of so many bytes 'x'.
 *
 * Replies look like 7, text, nil, -ERR no, [1 [2 3]], or none; before one of a command that was sent again stands
 * "REPEATED ".
 */
#ifndef TESTS_FLEET_TALK_H
#define TESTS_FLEET_TALK_H

#include "common/bytes.h"
#include "fleet/redis/redis.h"

typedef struct talk {
    redis_call *calls;
    size_t count;
} talk;

/* Adds a command. */
void talk_add(talk *talk, const char *line);
/* Runs them and forgets them; `replies` gets each reply and `end` after it. What redis_run returned. */
int talk_run(talk *talk, redis_client *client, bytes *replies, const char *end);

#endif
