/*
 * CF.INFO and CF.DEBUG. Clients read the fields of INFO by their position, so their order never changes.
 *
 * Ours is one table that grows. The numbers of buckets and filters are those of a RedisBloom filter that holds as many
 * items with every slot in use.
 */
#include <inttypes.h>
#include <stdio.h>

#include "filters.h"

/* Filter i has expansion^i times the slots of the first. */
uint64_t cuckoo_filters(const value *value)
{
    uint64_t slots = value_buckets(&value->settings) * value->settings.bucket_size, items = value->items;
    if (items <= slots || slots == 0)
        return 1;
    if (value->settings.expansion <= 1)
        return items / slots + (items % slots != 0);
    uint64_t filters = 1;
    for (; items > slots; filters++) {
        items -= slots;
        if (__builtin_mul_overflow(slots, value->settings.expansion, &slots))
            slots = UINT64_MAX;
    }
    return filters;
}

/* CF.INFO key */
int cf_info(server_context *ctx, server_string **argv, int argc)
{
    if (argc != 2)
        return server.WrongArity(ctx);
    const value *value = filter_needed(ctx, argv[1], ROLE_CF);
    if (!value)
        return SERVER_OK;
    const traits *settings = &value->settings;
    server.ReplyWithMap(ctx, 8);
    reply_field(ctx, "Size", value_bytes(value));
    reply_field(ctx, "Number of buckets", value_buckets(settings));
    reply_field(ctx, "Number of filters", cuckoo_filters(value));
    reply_field(ctx, "Number of items inserted", value->items);
    reply_field(ctx, "Number of items deleted", value->deleted);
    reply_field(ctx, "Bucket size", settings->bucket_size);
    reply_field(ctx, "Expansion rate", settings->expansion);
    reply_field(ctx, "Max iterations", settings->max_iterations);
    return SERVER_OK;
}

/* CF.DEBUG key */
int cf_debug(server_context *ctx, server_string **argv, int argc)
{
    char line[240];
    if (argc != 2)
        return server.WrongArity(ctx);
    const value *value = filter_needed(ctx, argv[1], ROLE_CF);
    if (!value)
        return SERVER_OK;
    const traits *settings = &value->settings;
    snprintf(line, sizeof line,
             "bktsize:%u buckets:%" PRIu64 " items:%" PRIu64 " deletes:%" PRIu64 " filters:%" PRIu64
             " max_iterations:%u expansion:%u",
             settings->bucket_size, value_buckets(settings), value->items, value->deleted, cuckoo_filters(value),
             settings->max_iterations, settings->expansion);
    return server.ReplyWithCString(ctx, line);
}
