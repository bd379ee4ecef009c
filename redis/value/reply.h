/*
 * Replies. Booleans and maps are the server's own: ReplyWithBool is 1 or 0 under RESP2, ReplyWithMap a flat array.
 */
#ifndef REDIS_REPLY_H
#define REDIS_REPLY_H

#include "redis/server/server.h"
#include "value.h"

/*
 * An error of this text: "ERR ", or whatever goes in front, and the sentence, made one line as the protocol wants it.
 * Returns SERVER_OK, so that a command can end with it.
 */
int reply_error(server_context *ctx, const char *sentence);
int reply_error_after(server_context *ctx, const char *front, const char *sentence);

/* The library's last error, or what the value's limit refused. value may be NULL. */
int reply_failure(server_context *ctx, const value *value, int error);

/* The key that a command needs is absent. */
int reply_absent(server_context *ctx);

/*
 * 1 for VIDI_NEW, 0 for VIDI_SEEN; null for VIDI_INVALID in a set that drops what is not a URL, otherwise an error, as
 * for VIDI_UNTRIED.
 */
int reply_answer(server_context *ctx, const value *value, int verdict);

#endif
