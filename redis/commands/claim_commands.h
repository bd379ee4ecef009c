/*
 * What the files of the commands on claims share.
 */
#ifndef REDIS_CLAIM_COMMANDS_H
#define REDIS_CLAIM_COMMANDS_H

#include "redis/value/value.h"

/* Errors about arguments. */
#define BAD_OWNER "an owner's name has 1 to 1024 bytes"
#define BAD_TOKEN "a token has 16 hexadecimal digits"

/* Arguments. False if one is wrong; then the error was replied. */
bool parse_owner(server_context *ctx, const server_string *argument, vidi_str *owner);
bool parse_lease(server_context *ctx, const server_string *argument, int64_t *lease);
bool parse_time(server_context *ctx, const server_string *argument, int64_t most, int64_t *time);

/* Names of owners, URLs and payloads are compared byte by byte. */
bool same_text(vidi_str a, vidi_str b);

/* claim_take.c */
int command_claim(server_context *ctx, server_string **argv, int argc);
int command_reclaim(server_context *ctx, server_string **argv, int argc);
int command_hold(server_context *ctx, server_string **argv, int argc);

/* claim_return.c */
int command_commit(server_context *ctx, server_string **argv, int argc);
int command_release(server_context *ctx, server_string **argv, int argc);
int command_renew(server_context *ctx, server_string **argv, int argc);

/* claim_list.c */
int command_claims(server_context *ctx, server_string **argv, int argc);

#endif
