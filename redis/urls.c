/*
 * VIDI.* commands on URLs: RESERVE, ADD, HAS.
 */
#include "commands.h"
#include "replicate.h"
#include "reply.h"
#include "value.h"

/* VIDI.RESERVE key [word ...] */
static int reserve(server_context *ctx, server_string **argv, int argc)
{
    if (argc < 2)
        return server.WrongArity(ctx);
    settings settings;
    settings_init(&settings, ROLE_URLS);
    const char *wrong = settings_parse_arguments(&settings, argv + 2, argc - 2);
    if (wrong)
        return reply_error(ctx, wrong);
    if (value_make(ctx, argv[1], &settings))
        server.ReplyWithSimpleString(ctx, "OK");
    return SERVER_OK;
}

/* VIDI.ADD key url */
static int add(server_context *ctx, server_string **argv, int argc)
{
    if (argc != 3)
        return server.WrongArity(ctx);
    bool absent;
    value *value = value_for_write(ctx, argv[1], ANY_ROLE, &absent);
    if (absent) {
        settings settings;
        settings_init(&settings, ROLE_URLS);
        value = value_make(ctx, argv[1], &settings);
    }
    if (!value)
        return SERVER_OK;
    vidi_str url = text_of(argv[2]);
    uint8_t verdict;
    int error = value_add(value, &url, 1, &verdict);
    if (error)
        return reply_failure(ctx, value, error);
    if (replicate_adds(ctx, argv[1], value, argv + 2, 1, &verdict, true))
        value_changed(ctx, argv[1]);
    return reply_verdict(ctx, verdict);
}

/* VIDI.HAS key url */
static int has(server_context *ctx, server_string **argv, int argc)
{
    if (argc != 3)
        return server.WrongArity(ctx);
    bool absent;
    value *value = value_for_read(ctx, argv[1], ANY_ROLE, &absent);
    if (absent)
        return reply_verdict(ctx, VIDI_NEW);
    if (!value)
        return SERVER_OK;
    int verdict = vidi_has(value->set, text_of(argv[2]));
    return verdict < 0 ? reply_failure(ctx, value, verdict) : reply_verdict(ctx, verdict);
}

static const server_argument reserve_arguments[] = {ARG_KEY, ARG_OPTION("kind", "KIND", SERVER_ARG_STRING), ARG_END};
static const server_argument url_arguments[] = {ARG_KEY, ARG("url", SERVER_ARG_STRING), ARG_END};

const command_entry url_commands[] = {
    {"vidi.reserve", reserve, "write deny-oom", -2, keys_insert, "Makes an empty set.", "O(1)", reserve_arguments,
     NULL},
    {"vidi.add", add, "write deny-oom fast", 3, keys_insert, "Adds a URL: 1 if it is new, 0 if it was seen.", "O(1)",
     url_arguments, NULL},
    {"vidi.has", has, "readonly fast", 3, keys_read, "Looks a URL up: 1 if it would be new, 0 if it was seen.", "O(1)",
     url_arguments, NULL},
    {.name = NULL},
};
