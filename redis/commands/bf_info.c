/*
 * BF.INFO and BF.DEBUG. Clients read the fields of INFO by their position, so their order never changes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "filters.h"

static uint64_t count_stages(const value *value)
{
    vidi_stats stats = {.size = sizeof stats};
    return vidi_stat(value->set, &stats) == VIDI_OK ? stats.stages : 0;
}

static uint64_t sum_capacities(const value *value)
{
    uint64_t sum = 0;
    vidi_stage_stats stage = {.size = sizeof stage};
    for (uint64_t i = 0; vidi_stage_stat(value->set, i, &stage) == VIDI_OK; i++)
        sum += stage.capacity;
    return sum;
}

static uint64_t size_of(const value *value)
{
    return value_bytes(value);
}

static const struct {
    const char *word, *name;
    uint64_t (*number)(const value *value); /* NULL: the expansion, which is null if there is none */
} fields[] = {
    {"CAPACITY", "Capacity", sum_capacities},       {"SIZE", "Size", size_of},
    {"FILTERS", "Number of filters", count_stages}, {"ITEMS", "Number of items inserted", filter_items},
    {"EXPANSION", "Expansion rate", NULL},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static void reply_number(server_context *ctx, const value *value, int field)
{
    if (fields[field].number)
        server.ReplyWithLongLong(ctx, (long long)fields[field].number(value));
    else if (value->settings.expansion)
        server.ReplyWithLongLong(ctx, value->settings.expansion);
    else
        server.ReplyWithNull(ctx);
}

/* A map of one under RESP3, but under RESP2 an array of the number alone. */
static int reply_one(server_context *ctx, const value *value, vidi_str word)
{
    int field = 0;
    while (field < FIELDS && !word_is(word, fields[field].word))
        field++;
    if (field == FIELDS)
        return server.ReplyWithError(ctx, "Invalid information value");
    if (speaks_resp3(ctx)) {
        server.ReplyWithMap(ctx, 1);
        server.ReplyWithSimpleString(ctx, fields[field].name);
    } else {
        server.ReplyWithArray(ctx, 1);
    }
    reply_number(ctx, value, field);
    return SERVER_OK;
}

/* BF.INFO key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION] */
int bf_info(server_context *ctx, server_string **argv, int argc)
{
    if (argc != 2 && argc != 3)
        return server.WrongArity(ctx);
    const value *value = filter_needed(ctx, argv[1], ROLE_BF);
    if (!value)
        return SERVER_OK;
    if (argc == 3)
        return reply_one(ctx, value, text_of(argv[2]));
    server.ReplyWithMap(ctx, FIELDS);
    for (int i = 0; i < FIELDS; i++) {
        server.ReplyWithSimpleString(ctx, fields[i].name);
        reply_number(ctx, value, i);
    }
    return SERVER_OK;
}

static void reply_stage(server_context *ctx, const vidi_stage_stats *stage)
{
    char line[200];
    snprintf(line, sizeof line,
             "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%u hashwidth:64 capacity:%" PRIu64 " size:%" PRIu64 " ratio:%g",
             stage->bytes, stage->bytes * 8, stage->k, stage->capacity, stage->count, stage->error);
    server.ReplyWithCString(ctx, line);
}

/* BF.DEBUG key */
int bf_debug(server_context *ctx, server_string **argv, int argc)
{
    if (argc != 2)
        return server.WrongArity(ctx);
    const value *value = filter_needed(ctx, argv[1], ROLE_BF);
    if (!value)
        return SERVER_OK;
    char line[40];
    snprintf(line, sizeof line, "size:%" PRIu64, filter_items(value));
    long stages = 0;
    vidi_stage_stats stage = {.size = sizeof stage};
    server.ReplyWithArray(ctx, SERVER_POSTPONED);
    server.ReplyWithCString(ctx, line);
    for (; vidi_stage_stat(value->set, (uint64_t)stages, &stage) == VIDI_OK; stages++)
        reply_stage(ctx, &stage);
    server.ReplySetArrayLength(ctx, 1 + stages);
    return SERVER_OK;
}
