/*
 * Arguments of the commands on claims. See claim_commands.h.
 */
#include <inttypes.h>
#include <stdio.h>

#include "claim_commands.h"
#include "claims.h"
#include "reply.h"

bool parse_owner(server_context *ctx, const server_string *argument, vidi_str *owner)
{
    *owner = text_of(argument);
    if (owner->len >= 1 && owner->len <= CLAIM_OWNER_MOST)
        return true;
    reply_error(ctx, BAD_OWNER);
    return false;
}

bool parse_lease(server_context *ctx, const server_string *argument, int64_t *lease)
{
    uint64_t number;
    if (parse_count(text_of(argument), &number) && number >= 1 && number <= (uint64_t)CLAIM_LEASE_MOST) {
        *lease = (int64_t)number;
        return true;
    }
    reply_error(ctx, "a lease is a number of milliseconds from 1 to 1000000000000");
    return false;
}

bool parse_time(server_context *ctx, const server_string *argument, int64_t most, int64_t *time)
{
    uint64_t number;
    if (parse_count(text_of(argument), &number) && number <= (uint64_t)most) {
        *time = (int64_t)number;
        return true;
    }
    reply_error(ctx, "a time is a number of milliseconds since 1970, at most 1000000000000000");
    return false;
}

bool parse_token(vidi_str text, uint64_t *token)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'a' && c <= 'f'))
            return false;
        number = number << 4 | (unsigned)(digit ? c - '0' : c - 'a' + 10);
    }
    *token = number;
    return text.len == TOKEN_DIGITS;
}

void token_print(uint64_t token, char text[TOKEN_DIGITS + 1])
{
    snprintf(text, TOKEN_DIGITS + 1, "%016" PRIx64, token);
}
