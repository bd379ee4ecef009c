/*
 * Arguments of the commands on claims. See claim_commands.h.
 */
#include "claim_commands.h"
#include "redis/claims/claims.h"
#include "redis/value/reply.h"

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
