/*
 * What a key holds: a set, its settings, and the claims on URLs that are not in the set yet.
 *
 * Functions that take a context reply the error themselves and return NULL, unless they say otherwise. A value stays
 * valid until the command ends: the server runs one command at a time.
 */
#ifndef REDIS_VALUE_H
#define REDIS_VALUE_H

#include <vidi/transfer.h>
#include <vidi/vidi.h>

#include "expiry.h"
#include "redis/server/memory.h"
#include "redis/server/server.h"
#include "settings.h"
#include "totals.h"

typedef struct claims claims;

/* Where to continue a value that was saved before all of its pieces had arrived. */
typedef struct saved_arrival {
    uint64_t position;
    unsigned char piece_state[VIDI_PIECE_STATE_BYTES];
} saved_arrival;

typedef struct value {
    vidi_set *set;
    memory memory; /* every byte of this value, also of the claims and of this struct */
    traits settings;
    claims *claims;         /* NULL until the first claim */
    int64_t ahead;          /* milliseconds between steady_now and value_now */
    int64_t previous_until; /* Unix time in ms at which the previous epoch is dropped; 0: it stays. See expiry_set */
    expiry_link expiry;
    totals counted;       /* what it counts for in INFO */
    uint64_t deleted;     /* CF.INFO: items deleted */
    uint64_t merged;      /* items that came by merging, in sets that store every add */
    uint64_t position;    /* of the piece that VIDI.LOAD expects next; 0: the set is complete */
    saved_arrival *saved; /* where to continue when everything that was saved is loaded; or NULL */
    uint64_t items;       /* items stored, for values that have a limit of them or store every add */
    uint64_t most_items;  /* that limit: a filter that does not scale. 0: none */
    bool counts;          /* the kind stores every add, also of what is there already */
} value;

typedef enum value_mode { FOR_READ = SERVER_READ, FOR_WRITE = SERVER_READ | SERVER_WRITE } value_mode;

/* The value at a key, or NULL: then *absent is true if there is no such key, or an error was replied. */
value *value_open(server_context *ctx, server_string *name, value_mode mode, unsigned roles, bool *absent);

/* The same for commands of VIDI.* that cannot do without the key: an absent one is an error, too. */
value *value_needed(server_context *ctx, server_string *name, value_mode mode);

/* The same for commands that treat wrong types and absent keys alike (BF.EXISTS): replies nothing. */
value *value_if_there(server_context *ctx, server_string *name, unsigned roles);

/*
 * Makes an empty value, settles what the settings leave open (its key), puts it at the key, which must be absent, and
 * replicates its creation. Replies an error and returns NULL if that fails.
 */
value *value_make(server_context *ctx, server_string *name, settings *settings);

/* The value at a key, or a new one for URLs with the default settings. NULL if that fails; the error was replied. */
value *value_or_new(server_context *ctx, server_string *name);

/*
 * A value without a set; never NULL. It draws an id if the settings have none. value_close frees it and everything in
 * it.
 */
value *value_new(const settings *settings);
void value_close(value *value);

/* Makes the set of a value, empty; like another one if that is not NULL. VIDI_OK, or an error of the library. */
int value_create(value *value, const settings *settings, const struct value *like);

/*
 * A copy to this key, with everything in it but the id: it is another set from now on. Replicas copy by themselves, so
 * its id follows from the original's and the key. NULL if there is no memory.
 */
value *value_copy(const value *original, server_string *name);

/* A random number, never 0: ids of sets, tokens of claims. */
uint64_t draw_number(void);

/* The settings as they are now: with what a value keeps beside them. */
settings value_settings(const value *value);

/* Puts a value at a key that is absent. */
bool value_put(server_context *ctx, server_string *name, value *value);

/*
 * The time by which the leases of this value are measured, in Unix milliseconds: steady_now, but never before a time
 * at which another server, or this one before it was restarted, made or saved one of its claims. So no lease is longer
 * than it was given, whatever the clocks of servers say.
 */
int64_t value_now(const value *value);

/* Its claims have seen this time. Beyond CLAIM_TIME_MOST there is no time. */
void value_catch_up(value *value, int64_t time);

/* How the library uses a set of this value: for vidi_read, vidi_piece_read and vidi_copy. */
void value_access(value *value, vidi_access *access);

/* The buckets of a cuckoo filter of RedisBloom with this capacity: a power of two. */
uint64_t value_buckets(const traits *settings);

/* Call this when value->set was made or replaced (loading, merging, rotating). It brings the rest up to date. */
void value_refresh(value *value);

/* vidi_merge; counts the items that came. */
int value_merge(value *value, const struct value *from);

/*
 * Tells WATCH, clients that track keys and those that listen to events ("vidi.add") of a change. Call it once per
 * command, if something changed.
 */
void value_changed(server_context *ctx, server_string *name, value *value, const char *event);

/* What value_add answers if a filter that does not scale has no room. */
enum { VALUE_FULL = 100 };

/*
 * Adds n items: VIDI_OK, an error of the library, or VALUE_FULL. Verdicts of those that were not reached are
 * VIDI_UNTRIED. A full filter still answers VIDI_SEEN for what it holds, as long as it stores only new items.
 */
int value_add(value *value, const vidi_str *items, size_t n, uint8_t *verdicts);

/* Counts what was stored by adds with these verdicts, which value_add does by itself. */
void value_count_stored(value *value, const uint8_t *verdicts, size_t n);

/* Whether an add with this verdict has stored something, which replicas must then do as well. */
static inline bool value_stored(const value *value, uint8_t verdict)
{
    return verdict == VIDI_NEW || (value->counts && verdict == VIDI_SEEN);
}

/*
 * vidi_has, vidi_has_batch, vidi_has_previous and vidi_count. They need memory for a moment, for a long URL or a large
 * batch, and get it even if the value has reached its limit.
 */
int value_has(const value *value, vidi_str item);
int value_has_batch(const value *value, const vidi_str *items, size_t n, uint8_t *verdicts);
int value_has_previous(const value *value, vidi_str item);
int value_count(const value *value, vidi_str item, uint64_t *times);

/* Removes an item, as vidi_remove does, and counts that. Works also if the value has reached its limit. */
int value_remove(value *value, vidi_str item);

/*
 * vidi_piece_read into the value's set, which the first piece makes: 1 if more pieces follow, 0 after the last, or an
 * error. value->position is then that of the next one.
 */
int value_take_piece(value *value, vidi_str piece);

/* vidi_piece_write; works even if the value has reached its memory limit. */
int value_piece(const value *value, uint64_t *cursor, size_t most, vidi_sink sink, void *context);

/* Bytes of the value, as the server's allocator counts them. */
size_t value_bytes(const value *value);

#endif
