/*
 * What BF.* and CF.* share. See filters.h.
 */
#include "filters.h"

#include <inttypes.h>
#include <stdio.h>

#include "redis/value/reply.h"

const char *no_option(int option)
{
    return option == OPTION_TWICE ? "ERR " GIVEN_TWICE : "Unknown argument received";
}

int reply_not_found(server_context *ctx)
{
    return server.ReplyWithError(ctx, "ERR not found");
}

const value *filter_needed(server_context *ctx, server_string *name, value_role role)
{
    bool absent;
    const value *found = value_open(ctx, name, FOR_READ, role, &absent);
    if (absent)
        reply_not_found(ctx);
    return found;
}

/* The next power of two, as RedisBloom rounds expansions of cuckoo filters; 0 stays 0. */
static uint32_t round_expansion(uint32_t expansion)
{
    uint32_t rounded = expansion > 0;
    while (rounded < expansion)
        rounded *= 2;
    return rounded;
}

/* bf.c and cf.c say why these kinds. */
static value *make(server_context *ctx, server_string *name, const recipe *recipe)
{
    settings settings = settings_from(&recipe->traits);
    const char *kind = "fingerprint";
    if (recipe->fixed)
        settings.expansion = 0;
    if (settings.role == ROLE_CF) {
        settings.expansion = round_expansion(settings.expansion);
        snprintf(settings.params, sizeof settings.params, "multiset=on");
    } else {
        kind = settings.expansion ? "scalable" : "classic";
        if (settings.expansion)
            snprintf(settings.params, sizeof settings.params, "ends=count,growth=%u", settings.expansion);
    }
    snprintf(settings.kind, sizeof settings.kind, "%s", kind);
    snprintf(settings.canon, sizeof settings.canon, "none");
    return value_make(ctx, name, &settings);
}

int filter_reserve(server_context *ctx, server_string *name, const recipe *recipe)
{
    bool absent;
    if (value_open(ctx, name, FOR_WRITE, recipe->traits.role, &absent))
        return server.ReplyWithError(ctx, "ERR item exists");
    if (absent && make(ctx, name, recipe))
        server.ReplyWithSimpleString(ctx, "OK");
    return SERVER_OK;
}

value *filter_open(server_context *ctx, server_string *name, const recipe *recipe)
{
    bool absent;
    value *value = value_open(ctx, name, FOR_WRITE, recipe->traits.role, &absent);
    if (!absent)
        return value;
    if (recipe->create)
        return make(ctx, name, recipe);
    reply_not_found(ctx);
    return NULL;
}

int filter_options(server_context *ctx, recipe *recipe, server_string **argv, int argc, const char *const *names,
                   int alone, option_function take)
{
    const char *wrong = NULL;
    uint32_t given = 0;
    int i = 2;
    for (; i < argc && !wrong && !word_is(text_of(argv[i]), "ITEMS"); i++) {
        int option = option_of(text_of(argv[i]), names, &given);
        if (option < 0)
            wrong = no_option(option);
        else if (option < alone)
            wrong = take(recipe, option, (vidi_str){"", 0});
        else if (++i < argc)
            wrong = take(recipe, option, text_of(argv[i]));
    }
    if (wrong)
        server.ReplyWithError(ctx, wrong);
    else if (i + 1 >= argc)
        server.WrongArity(ctx);
    return wrong || i + 1 >= argc ? 0 : i + 1;
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

static bool has(const value *value, server_string *item)
{
    return value && value_has(value, text_of(item)) == VIDI_SEEN;
}

int filter_exists(server_context *ctx, server_string **argv, int argc, value_role role)
{
    if (argc != 3)
        return server.WrongArity(ctx);
    return server.ReplyWithBool(ctx, has(value_if_there(ctx, argv[1], role), argv[2]));
}

int filter_mexists(server_context *ctx, server_string **argv, int argc, value_role role)
{
    if (argc < 3)
        return server.WrongArity(ctx);
    const value *value = value_if_there(ctx, argv[1], role);
    server.ReplyWithArray(ctx, argc - 2);
    for (int i = 2; i < argc; i++)
        server.ReplyWithBool(ctx, has(value, argv[i]));
    return SERVER_OK;
}

const server_argument key_arguments[] = {ARG_KEY, ARG_END};
const server_argument item_arguments[] = {ARG_KEY, ARG("item", SERVER_ARG_STRING), ARG_END};
const server_argument items_arguments[] = {ARG_KEY, ARG_MANY("item", SERVER_ARG_STRING), ARG_END};
const server_argument scandump_arguments[] = {ARG_KEY, ARG("iterator", SERVER_ARG_INTEGER), ARG_END};
const server_argument loadchunk_arguments[] = {ARG_KEY, ARG("iterator", SERVER_ARG_INTEGER),
                                               ARG("data", SERVER_ARG_STRING), ARG_END};
