/*
 * What BF.* and CF.* share. See filters.h.
 */
#include "filters.h"

#include <inttypes.h>
#include <stdio.h>

#include "reply.h"

int reply_not_found(server_context *ctx)
{
    return server.ReplyWithError(ctx, "ERR not found");
}

int reply_range(server_context *ctx, const char *text, uint64_t least, uint64_t most)
{
    char line[160];
    snprintf(line, sizeof line, "%s [%" PRIu64 ", %" PRIu64 "]", text, least, most);
    return server.ReplyWithError(ctx, line);
}

bool speaks_resp3(server_context *ctx)
{
    return server.GetContextFlags(ctx) & SERVER_FLAG_RESP3;
}

void reply_field(server_context *ctx, const char *name, uint64_t number)
{
    server.ReplyWithSimpleString(ctx, name);
    server.ReplyWithLongLong(ctx, (long long)number);
}

uint64_t filter_items(const value *value)
{
    vidi_stats stats = {.size = sizeof stats};
    return vidi_stat(value->set, &stats) == VIDI_OK ? stats.count : 0;
}
