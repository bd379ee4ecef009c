/*
 * Replies. See reply.h.
 */
#include "reply.h"

#include <stdio.h>

int reply_error_after(server_context *ctx, const char *front, const char *sentence)
{
    char line[512];
    snprintf(line, sizeof line, "%s%s", front, sentence);
    for (char *c = line; *c; c++)
        if (*c == '\r' || *c == '\n')
            *c = ' ';
    server.ReplyWithError(ctx, line);
    return SERVER_OK;
}

int reply_error(server_context *ctx, const char *sentence)
{
    return reply_error_after(ctx, "ERR ", sentence);
}

int reply_failure(server_context *ctx, const value *value, int error)
{
    if (error == VALUE_FULL) {
        totals_count_refused();
        return reply_error(ctx, "non scaling filter is full");
    }
    if (error == VIDI_EMEMORY && value && value->memory.refused) {
        char sentence[160];
        totals_count_refused();
        snprintf(sentence, sizeof sentence, "the set would exceed its MAXMEMORY of %llu bytes; it holds %llu",
                 (unsigned long long)value->memory.limit, (unsigned long long)value->memory.used);
        return reply_error(ctx, sentence);
    }
    return reply_error(ctx, vidi_message());
}

int reply_absent(server_context *ctx)
{
    return reply_error(ctx, "there is no such key");
}

int reply_answer(server_context *ctx, const value *value, int verdict)
{
    if (verdict == VIDI_INVALID && value->settings.invalid == VIDI_DROP_INVALID)
        return server.ReplyWithNull(ctx);
    if (verdict == VIDI_NEW || verdict == VIDI_SEEN)
        return server.ReplyWithLongLong(ctx, verdict == VIDI_NEW);
    return reply_error(ctx, verdict == VIDI_INVALID ? vidi_message() : "not tried, because an item before it failed");
}
