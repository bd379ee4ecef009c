/*
 * Commands that go out together: words, and the calls that they belong to.
 *
 * Words are borrowed: they must stay until the calls have run. The memory is kept from one run to the next.
 */
#ifndef VIDI_FLEET_SET_CALLS_H
#define VIDI_FLEET_SET_CALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "fleet/redis/redis.h"
#include "shards.h"

/* Begins as {0}. */
typedef struct calls {
    redis_call *list;
    size_t *starts; /* of each call: its first word */
    size_t count, room;
    vidi_str *words;
    size_t used, words_room;
    bool failed; /* there was no memory */
} calls;

/* Ored: what is said of a call. */
enum { CALL_WRITES = 1, CALL_ONCE = 2 /* it must not be executed twice */ };

#define WORD(literal_) ((vidi_str){literal_, sizeof(literal_) - 1})

/* Begins again, without calls. */
void calls_clear(calls *calls);
/* Begins a call, whose words follow. Returns its number. */
size_t calls_begin(calls *calls, int slot, unsigned how);
/* VIDI.NAME and the key of the shard; then "IF", and its id. */
size_t calls_begin_shard(calls *calls, const shard *shard, vidi_str name, unsigned how);
void calls_guard(calls *calls, const shard *shard);
void calls_add(calls *calls, vidi_str word);
void calls_free(calls *calls);

/* Room for so many more words, which the caller writes and counts (used). NULL if there is no memory. */
vidi_str *calls_words(calls *calls, size_t n);

/* Makes the calls ready for redis_run. False if there was no memory. */
bool calls_finish(calls *calls);

#endif
