/*
 * What is sent to replicas and the append-only file: VIDI.* commands only, whatever the client sent, and only changes.
 * A command that fails midway replicates what it has changed until then.
 *
 * Making a VIDI.* command out of a BF.ADD takes the server a quarter of a microsecond, even if nobody listens. So as
 * long as nobody does, the client's command is handed on as it is, which the server drops at once. If somebody begins
 * to listen at that very moment, a replica gets BF.ADD, which has the same effect there.
 */
#ifndef REDIS_REPLICATE_H
#define REDIS_REPLICATE_H

#include "redis/server/server.h"
#include "value.h"

/*
 * Somebody may be about to listen: after a fork, whose file a replica or the append-only file begins with; when the
 * role changes; and after loading, when the server makes a backlog again.
 */
void replicate_expect_listeners(void);

/* Finds out whether anybody listens: replicas, the backlog or the append-only file. Called several times a second. */
void replicate_look_around(server_context *ctx);

/* VIDI.RESERVE with the settings that the value was made with. */
void replicate_reserve(server_context *ctx, server_string *name, const settings *settings);

/*
 * Replicates the items that a command has stored: items[i] if verdicts[i] is VIDI_NEW, or VIDI_SEEN in a kind that
 * counts. True if there were any. `verbatim`: the command is VIDI.ADD or VIDI.MADD with just these items.
 */
bool replicate_adds(server_context *ctx, server_string *name, const value *value, server_string **items, size_t n,
                    const uint8_t *verdicts, bool verbatim);

/* VIDI.DEL */
void replicate_removal(server_context *ctx, server_string *name, server_string *item);

/* VIDI.LOAD key position piece, with the settings' words if the position is 0. */
void replicate_load(server_context *ctx, server_string *name, uint64_t position, vidi_str piece,
                    const settings *settings);

#endif
