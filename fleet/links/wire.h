/*
 * One thread's connections: a client for the keys of the fleet, all of which are in one slot, and a handle of the set.
 */
#ifndef VIDI_FLEET_LINKS_WIRE_H
#define VIDI_FLEET_LINKS_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "fleet/links/fleet.h"
#include "fleet/redis/redis.h"

enum { WIRE_KEY = 256, WIRE_WORDS = 160 };

typedef struct wire {
    redis_client *client;
    vidi_cluster *cluster; /* NULL: this thread needs none */
    char *name;            /* of the set */
    int slot;
    char record[WIRE_KEY], lives[WIRE_KEY], quiet[WIRE_KEY], figures[WIRE_KEY];
    bool lost_reply; /* a reply was lost since the caller looked last */
    int64_t patience_ms;
    atomic_bool hurry; /* set by another thread: try nothing again */
    char why[FLEET_WHY];
} wire;

/*
 * Client and handle give up after WIRE_PATIENCE; whoever wants to be more patient tries again until the access's
 * patience is over. So a thread can be told to hurry.
 */
enum { WIRE_PATIENCE = 5000 };

int wire_open(wire *wire, const char *address, const vidi_cluster_access *access, bool with_set);
void wire_close(wire *wire);

typedef struct patience {
    int64_t until;
} patience;
patience wire_patience(const wire *wire);
/* From now on calls give up after WIRE_PATIENCE. Any thread. */
void wire_hurry(wire *wire);
/* Whether to repeat what ended with this error: no server has answered, and there is still patience. */
bool wire_try_again(const wire *wire, const patience *patience, int error);

/* The key of a member's stream. */
void wire_stream(const wire *wire, const char *life, char key[WIRE_KEY]);

/* A command under construction. All texts must stay until it has run. */
typedef struct command {
    vidi_str words[WIRE_WORDS];
    size_t count;
    char numbers[4][24];
    size_t number_count;
    bool overflow;
} command;

void command_begin(command *command, const char *name);
void command_text(command *command, const char *text);
void command_bytes(command *command, vidi_str bytes);
void command_number(command *command, uint64_t number);
/* EVAL of a script with so many keys, which come next, before the arguments. */
void command_script(command *command, const char *script, unsigned keys);

enum { WIRE_READS = 0, WIRE_WRITES = 1 };

/* A call of redis_run. All commands of the fleet may be executed twice. */
redis_call wire_call(const wire *wire, const command *command, int writes);
/* Runs calls. An error of the server is VIDI_EIO, and wire->why has it. */
int wire_run(wire *wire, redis_call *calls, size_t n);
/* Runs one command; *reply is good until the next run. */
int wire_ask(wire *wire, const command *command, int writes, const redis_reply **reply);

/* Notes why a call of the set has failed, and returns the error. */
int wire_set_failed(wire *wire, int error);
int wire_failed(wire *wire, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Reading replies that are not trusted. */
bool reply_text_is(const redis_reply *reply, const char *text);
/* Copies a text of at most room - 1 bytes without zero bytes. False if it is not that. */
bool reply_copy(const redis_reply *reply, char *to, size_t room);
/* The index-th element, or NULL. */
const redis_reply *reply_item(const redis_reply *reply, size_t index);

#endif
