/*
 * Commands on whole sets: VIDI.ROTATE, HASPREVIOUS, EXPIREAT, MAXMEMORY and MERGE.
 *
 * Rotations and merges are replicated as the client sent them, after the VIDI.RESERVE of a destination that was absent.
 * They have the same effect on every server with the same contents: the salts of an epoch follow from the key and its
 * number, and a merge is made of sets that the replica has, too.
 */
#include <stdio.h>

#include "guard.h"
#include "redis/claims/claims.h"
#include "redis/server/memory.h"
#include "redis/server/server.h"
#include "redis/value/expiry.h"
#include "redis/value/replicate.h"
#include "redis/value/reply.h"
#include "redis/value/settings.h"
#include "redis/value/value.h"

#define OVER_LIMIT 1 /* a code beside those of the library */
#define NO_PREVIOUS "no previous epoch is kept: the set was never rotated, or its time is over"

/* A time in seconds as users give it, in milliseconds. */
static bool parse_seconds(vidi_str text, int64_t *ms)
{
    uint64_t seconds;
    if (!parse_count(text, &seconds) || seconds > INT64_MAX / 1000)
        return false;
    *ms = (int64_t)seconds * 1000;
    return true;
}

/* ---- VIDI.ROTATE ---- */

/* What the command says about the next epoch. */
typedef struct rotation {
    uint64_t capacity; /* 0: as the last count says */
    double error;      /* 0: as before */
    int64_t until;     /* when the epoch that ends is dropped; 0: at the next rotation */
    uint32_t given;    /* for option_of */
} rotation;

static const char *take_rotation_word(rotation *rotation, vidi_str word, vidi_str text)
{
    static const char *const names[] = {"CAPACITY", "ERROR", "EXPIREAT", NULL};
    bool good;
    switch (option_of(word, names, &rotation->given)) {
    case 0:
        return parse_count(text, &rotation->capacity) && rotation->capacity ? NULL : "CAPACITY must be a whole number";
    case 1:
        good = parse_double(text, &rotation->error) && rotation->error > 0 && rotation->error < 1;
        return good ? NULL : "ERROR must be between 0 and 1";
    case 2:
        return parse_seconds(text, &rotation->until) ? NULL : "EXPIREAT must be a Unix time in seconds";
    case OPTION_TWICE:
        return GIVEN_TWICE;
    default:
        return "the words are CAPACITY urls, ERROR rate and EXPIREAT unix-seconds";
    }
}

static const char *parse_rotation(rotation *rotation, server_string **argv, int argc)
{
    const char *wrong = NULL;
    *rotation = (struct rotation){0};
    for (int i = 0; i < argc && !wrong; i += 2)
        wrong = i + 1 < argc ? take_rotation_word(rotation, text_of(argv[i]), text_of(argv[i + 1]))
                             : "a value must follow the last word";
    return wrong;
}

static int rotate(value *value, const rotation *rotation)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    next.capacity = rotation->capacity;
    next.error = rotation->error;
    next.flags = VIDI_KEEP_PREVIOUS;
    memory_free_in_background(); /* the epoch before the last one, if it was kept */
    int code = vidi_rotate(value->set, &next);
    memory_free_at_once();
    if (code < 0)
        return code;
    if (rotation->capacity)
        value->settings.capacity = rotation->capacity;
    if (rotation->error > 0)
        value->settings.error = rotation->error;
    if (value->claims)
        claims_rotate(value->claims);
    value->position = 0; /* pieces of the epoch that ended are not taken any more */
    value->deleted = 0;
    value->merged = 0;
    expiry_set(value, rotation->until);
    value_refresh(value);
    return VIDI_OK;
}

/* VIDI.ROTATE key [guard] [CAPACITY urls] [ERROR rate] [EXPIREAT unix-seconds] */
static int rotate_command(server_context *ctx, server_string **argv, int argc)
{
    rotation rotation;
    vidi_stats stats = {.size = sizeof stats};
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc < 2)
        return server.WrongArity(ctx);
    const char *wrong = parse_rotation(&rotation, argv + 2, argc - 2);
    if (wrong)
        return reply_error(ctx, wrong);
    value *value = value_needed(ctx, argv[1], FOR_WRITE);
    if (!value)
        return SERVER_OK;
    int code = rotate(value, &rotation);
    if (code == VIDI_OK)
        code = vidi_stat(value->set, &stats);
    if (code < 0)
        return reply_failure(ctx, value, code);
    server.ReplicateVerbatim(ctx);
    value_changed(ctx, argv[1], value, "vidi.rotate");
    return server.ReplyWithLongLong(ctx, (long long)stats.epoch);
}

/* ---- the previous epoch ---- */

/* VIDI.HASPREVIOUS key [guard] url */
static int has_previous(server_context *ctx, server_string **argv, int argc)
{
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_URLS))
        return SERVER_OK;
    if (argc != 3)
        return server.WrongArity(ctx);
    value *value = value_needed(ctx, argv[1], FOR_READ);
    if (!value)
        return SERVER_OK;
    if (!expiry_has_previous(value))
        return reply_error(ctx, NO_PREVIOUS);
    int verdict = value_has_previous(value, text_of(argv[2]));
    return verdict < 0 ? reply_failure(ctx, value, verdict) : reply_answer(ctx, value, verdict);
}

/* VIDI.EXPIREAT key unix-seconds [guard] */
static int expire_at(server_context *ctx, server_string **argv, int argc)
{
    int64_t until;
    bool absent;
    if (!guard_pass(ctx, &argv, &argc, 3, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc != 3)
        return server.WrongArity(ctx);
    if (!parse_seconds(text_of(argv[2]), &until))
        return reply_error(ctx, "the time must be a Unix time in seconds, or 0");
    value *value = value_open(ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    if (!value)
        return absent ? server.ReplyWithLongLong(ctx, 0) : SERVER_OK;
    if (!expiry_has_previous(value))
        return server.ReplyWithLongLong(ctx, 0);
    expiry_set(value, until);
    expiry_run();
    server.ReplicateVerbatim(ctx);
    value_changed(ctx, argv[1], value, "vidi.expireat");
    return server.ReplyWithLongLong(ctx, 1);
}

/* ---- VIDI.MAXMEMORY ---- */

/* VIDI.MAXMEMORY key bytes [guard] */
static int max_memory(server_context *ctx, server_string **argv, int argc)
{
    uint64_t bytes;
    if (!guard_pass(ctx, &argv, &argc, 3, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc != 3)
        return server.WrongArity(ctx);
    if (!parse_bytes(text_of(argv[2]), &bytes))
        return reply_error(ctx, "the limit must be a number of bytes, such as 100mb, or 0 for none");
    value *value = value_needed(ctx, argv[1], FOR_WRITE);
    if (!value)
        return SERVER_OK;
    value->settings.max_memory = value->memory.limit = bytes;
    server.ReplicateVerbatim(ctx);
    value_changed(ctx, argv[1], value, "vidi.maxmemory");
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* ---- VIDI.MERGE ---- */

/* Replies an error about the source at this position of the command, with its number instead of a name of any bytes. */
static int refuse_source(server_context *ctx, int number, bool others, const char *why)
{
    char sentence[400];
    if (others)
        snprintf(sentence, sizeof sentence, "source %d: %s (the sources before it were merged)", number, why);
    else
        snprintf(sentence, sizeof sentence, "source %d: %s", number, why);
    return reply_error(ctx, sentence);
}

/* All sources must be there before the first one is merged. */
static bool check_sources(server_context *ctx, server_string **sources, int count)
{
    for (int i = 0; i < count; i++) {
        bool absent;
        if (value_open(ctx, sources[i], FOR_READ, ANY_ROLE, &absent))
            continue;
        if (absent)
            refuse_source(ctx, i + 1, false, "there is no such key");
        return false;
    }
    return true;
}

/*
 * A merge that runs out of memory midway would have added only a part of the source, so the limit is checked first. A
 * set that grows needs at most what both hold now; the size of any other is fixed.
 */
static int check_limit(const value *into, const value *from)
{
    vidi_stats stats = {.size = sizeof stats};
    int code = vidi_stat(into->set, &stats);
    if (code < 0 || !into->memory.limit || !memory_enforces() || !(stats.can & VIDI_CAN_GROW))
        return code;
    return into->memory.used + from->memory.used <= into->memory.limit ? VIDI_OK : OVER_LIMIT;
}

static const char *why_not_merged(int code)
{
    return code == OVER_LIMIT ? "the sets together would exceed the destination's MAXMEMORY" : vidi_message();
}

/* Merges the sources in their order and tells how many were merged. */
static int merge_sources(server_context *ctx, value *into, server_string **sources, int count, int *merged)
{
    int code = VIDI_OK;
    for (*merged = 0; *merged < count; ++*merged) {
        bool absent;
        const value *from = value_open(ctx, sources[*merged], FOR_READ, ANY_ROLE, &absent);
        code = from == into ? VIDI_OK : check_limit(into, from);
        if (code == VIDI_OK)
            code = value_merge(into, from);
        if (code != VIDI_OK)
            break;
    }
    value_refresh(into);
    return code;
}

/* The destination is absent: it gets its key if all sources could be merged; otherwise nothing has happened. */
static int merge_into_new(server_context *ctx, server_string **argv, int argc)
{
    int merged;
    bool absent;
    const value *first = value_open(ctx, argv[2], FOR_READ, ANY_ROLE, &absent);
    settings settings = settings_from(&first->settings);
    settings.id = 0;
    settings.like = argv[2];
    value *into = value_new(&settings);
    int code = value_create(into, &settings, first);
    if (code < 0) {
        reply_failure(ctx, into, code);
        value_close(into);
        return SERVER_OK;
    }
    code = merge_sources(ctx, into, argv + 2, argc - 2, &merged);
    if (code != VIDI_OK) {
        refuse_source(ctx, merged + 1, false, why_not_merged(code));
        value_close(into);
        return SERVER_OK;
    }
    value_put(ctx, argv[1], into);
    settings.id = into->settings.id;
    replicate_reserve(ctx, argv[1], &settings); /* with the id */
    server.ReplicateVerbatim(ctx);
    value_changed(ctx, argv[1], into, "vidi.merge");
    return server.ReplyWithSimpleString(ctx, "OK");
}

/*
 * Replicas merge what was merged here. If there was no memory for all of a source, replicas that have the memory hold
 * more of it than this server, until the merge is repeated.
 */
static int merge_into(server_context *ctx, value *into, server_string **argv, int argc)
{
    int merged;
    int code = merge_sources(ctx, into, argv + 2, argc - 2, &merged);
    int begun = merged + (code == VIDI_EMEMORY || code == VIDI_ELIMIT);
    if (begun) {
        server.Replicate(ctx, "VIDI.MERGE", "sv", argv[1], argv + 2, (size_t)begun);
        value_changed(ctx, argv[1], into, "vidi.merge");
    }
    if (code != VIDI_OK)
        return refuse_source(ctx, merged + 1, merged > 0, why_not_merged(code));
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* VIDI.MERGE destination source [source ...] */
static int merge(server_context *ctx, server_string **argv, int argc)
{
    bool absent;
    if (argc < 3)
        return server.WrongArity(ctx);
    value *into = value_open(ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    if ((!into && !absent) || !check_sources(ctx, argv + 2, argc - 2))
        return SERVER_OK;
    return into ? merge_into(ctx, into, argv, argc) : merge_into_new(ctx, argv, argc);
}

/* ---- the table ---- */

static const server_key_spec merge_keys[] = {
    KEYS_AT(1, 0, SERVER_KEY_RW | SERVER_KEY_INSERT),
    KEYS_AT(2, -1, SERVER_KEY_RO | SERVER_KEY_ACCESS),
    KEYS_END,
};

static const server_argument rotate_arguments[] = {
    ARG_KEY,
    ARG_GUARD,
    ARG_OPTION("urls", "CAPACITY", SERVER_ARG_INTEGER),
    ARG_OPTION("rate", "ERROR", SERVER_ARG_DOUBLE),
    ARG_OPTION("unix-time-seconds", "EXPIREAT", SERVER_ARG_UNIX_TIME),
    ARG_END,
};
static const server_argument url_arguments[] = {ARG_KEY, ARG_GUARD_URLS, ARG("url", SERVER_ARG_STRING), ARG_END};
static const server_argument time_arguments[] = {ARG_KEY, ARG("unix-time-seconds", SERVER_ARG_UNIX_TIME), ARG_GUARD,
                                                 ARG_END};
static const server_argument limit_arguments[] = {ARG_KEY, ARG("bytes", SERVER_ARG_INTEGER), ARG_GUARD, ARG_END};
static const server_argument merge_arguments[] = {
    ARG_WITH("destination", NULL, SERVER_ARG_KEY, 0, 0, NULL),
    ARG_WITH("source", NULL, SERVER_ARG_KEY, SERVER_ARG_MULTIPLE, 1, NULL),
    ARG_END,
};

const command_entry rotate_merge_commands[] = {
    {"vidi.rotate", rotate_command, "write deny-oom", -2, keys_update,
     "Begins the next epoch and returns its number; the previous one is kept.", "O(1)", rotate_arguments},
    {"vidi.hasprevious", has_previous, "readonly fast", -3, keys_read,
     "Looks a URL up in the previous epoch: 1 if it was not there, 0 if it was seen.", "O(1)", url_arguments},
    {"vidi.expireat", expire_at, "write fast", -3, keys_update,
     "Drops the previous epoch at a time: 1, or 0 if there is none.", "O(1)", time_arguments},
    {"vidi.maxmemory", max_memory, "write fast", -3, keys_update, "Sets the memory that a key may take; 0: no limit.",
     "O(1)", limit_arguments},
    {"vidi.merge", merge, "write deny-oom", -3, merge_keys, "Adds everything that the sources hold to the destination.",
     "O(N) where N is the number of URLs in the sources", merge_arguments},
    {.name = NULL},
};
