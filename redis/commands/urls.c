/*
 * Commands on single URLs: VIDI.RESERVE, ADD, MADD, HAS, MHAS, DEL and COUNT.
 *
 * One answer everywhere: 1 for a URL that is new, 0 for one that was seen. A batch gives each URL the answer that a
 * command of its own would give: an error for one that could not be added stands in its place, and the others are dealt
 * with all the same. [guard] is what guard.h takes.
 */
#include "batch.h"
#include "guard.h"
#include "redis/value/replicate.h"
#include "redis/value/reply.h"
#include "redis/value/value.h"

/* ---- VIDI.RESERVE ---- */

static const char *check_like(const settings *said)
{
    bool more = said->kind[0] || said->params[0] || said->canon[0] || said->has_key || said->error > 0 ||
                said->lost > 0 || said->capacity || said->invalid || said->role != ROLE_URLS;
    return said->like && more ? "with LIKE, only MAXMEMORY and ID can be chosen; the rest is as in the other set"
                              : NULL;
}

/*
 * Tells the server where the keys are, by the same rules as settings_parse_arguments: a LIKE that is the value of
 * another option is not followed by a key. The specification of keys below cannot tell the two apart; but a command
 * with such an option fails, so nothing is opened that the server does not know of if it goes by the specification.
 */
static int tell_keys(server_context *ctx, server_string **argv, int argc)
{
    if (argc > 1)
        server.KeyAtPosWithFlags(ctx, 1, SERVER_KEY_OW | SERVER_KEY_INSERT);
    for (int i = 2; i + 1 < argc; i += settings_width(text_of(argv[i])))
        if (word_is(text_of(argv[i]), "LIKE"))
            server.KeyAtPosWithFlags(ctx, i + 1, SERVER_KEY_RO | SERVER_KEY_ACCESS);
    return SERVER_OK;
}

/* VIDI.RESERVE key [word ...] */
static int reserve(server_context *ctx, server_string **argv, int argc)
{
    settings settings;
    if (server.IsKeysPositionRequest(ctx))
        return tell_keys(ctx, argv, argc);
    if (argc < 2)
        return server.WrongArity(ctx);
    settings_init(&settings, ROLE_URLS);
    const char *wrong = settings_parse_arguments(&settings, argv + 2, argc - 2);
    if (!wrong)
        wrong = check_like(&settings);
    if (wrong)
        return reply_error(ctx, wrong);
    if (value_make(ctx, argv[1], &settings))
        server.ReplyWithSimpleString(ctx, "OK");
    return SERVER_OK;
}

/* ---- one URL ---- */

/* VIDI.ADD key [guard] url */
static int add(server_context *ctx, server_string **argv, int argc)
{
    uint8_t verdict;
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_URLS))
        return SERVER_OK;
    if (argc != 3)
        return server.WrongArity(ctx);
    value *value = value_or_new(ctx, argv[1]);
    if (!value)
        return SERVER_OK;
    vidi_str url = text_of(argv[2]);
    int error = value_add(value, &url, 1, &verdict);
    if (error)
        return reply_failure(ctx, value, error);
    if (replicate_adds(ctx, argv[1], value, argv + 2, 1, &verdict, true))
        value_changed(ctx, argv[1], value, "vidi.add");
    return reply_answer(ctx, value, verdict);
}

/* VIDI.HAS key [guard] url */
static int has(server_context *ctx, server_string **argv, int argc)
{
    bool absent;
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_URLS))
        return SERVER_OK;
    if (argc != 3)
        return server.WrongArity(ctx);
    const value *value = value_open(ctx, argv[1], FOR_READ, ANY_ROLE, &absent);
    if (!value)
        return absent ? server.ReplyWithLongLong(ctx, 1) : SERVER_OK;
    int verdict = value_has(value, text_of(argv[2]));
    return verdict < 0 ? reply_failure(ctx, value, verdict) : reply_answer(ctx, value, verdict);
}

/* VIDI.DEL key [guard] url */
static int del(server_context *ctx, server_string **argv, int argc)
{
    bool absent;
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_URLS))
        return SERVER_OK;
    if (argc != 3)
        return server.WrongArity(ctx);
    value *value = value_open(ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    if (!value)
        return absent ? server.ReplyWithLongLong(ctx, 0) : SERVER_OK;
    int code = value_remove(value, text_of(argv[2]));
    if (code == VIDI_EABSENT)
        return server.ReplyWithLongLong(ctx, 0);
    if (code != VIDI_OK)
        return code < 0 ? reply_failure(ctx, value, code) : reply_answer(ctx, value, code);
    replicate_removal(ctx, argv[1], argv[2]);
    value_changed(ctx, argv[1], value, "vidi.del");
    return server.ReplyWithLongLong(ctx, 1);
}

/* VIDI.COUNT key [guard] url */
static int count(server_context *ctx, server_string **argv, int argc)
{
    uint64_t times;
    bool absent;
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_URLS))
        return SERVER_OK;
    if (argc != 3)
        return server.WrongArity(ctx);
    const value *value = value_open(ctx, argv[1], FOR_READ, ANY_ROLE, &absent);
    if (!value)
        return absent ? server.ReplyWithLongLong(ctx, 0) : SERVER_OK;
    int code = value_count(value, text_of(argv[2]), &times);
    if (code != VIDI_OK)
        return code < 0 ? reply_failure(ctx, value, code) : reply_answer(ctx, value, code);
    return server.ReplyWithLongLong(ctx, (long long)times);
}

/* ---- many URLs ---- */

/*
 * URLs that are passed to the library at once. After a URL that is rejected the rest is passed again, so without a
 * bound a batch of rejected ones would take time in proportion to the square of their number.
 */
#define SLICE ((size_t)2048)

/* Adds URLs or looks them up; what value_add promises holds. */
typedef int (*batch_function)(value *value, const vidi_str *urls, size_t n, uint8_t *verdicts);

static int look_up(value *value, const vidi_str *urls, size_t n, uint8_t *verdicts)
{
    return value_has_batch(value, urls, n, verdicts);
}

static size_t reply_until_untried(server_context *ctx, const value *value, const uint8_t *verdicts, size_t from,
                                  size_t end)
{
    while (from < end && verdicts[from] != VIDI_UNTRIED)
        reply_answer(ctx, value, verdicts[from++]);
    return from;
}

/*
 * Runs a slice of a batch, replies an answer for each URL of it, and returns where the next slice begins. In sets that
 * reject what is not a URL, the library stops there (VIDI_INVALID), and so the slice ends after it. After any other
 * error, URLs without an answer were not added, and the error stands in their places. These need not be the last ones:
 * the library may add in another order.
 */
static size_t run_slice(server_context *ctx, value *value, batch *batch, batch_function function, size_t from)
{
    size_t end = batch->n - from < SLICE ? batch->n : from + SLICE;
    int code = function(value, batch->items + from, end - from, batch->verdicts + from);
    from = reply_until_untried(ctx, value, batch->verdicts, from, end);
    if (code == VIDI_INVALID && from < end) {
        batch->verdicts[from] = VIDI_INVALID;
        reply_answer(ctx, value, VIDI_INVALID);
        return from + 1;
    }
    while (from < end) {
        reply_failure(ctx, value, code);
        from = reply_until_untried(ctx, value, batch->verdicts, from + 1, end);
    }
    return end;
}

/* Replies an array with an answer for each URL. */
static void run_batch(server_context *ctx, value *value, batch *batch, batch_function function)
{
    server.ReplyWithArray(ctx, (long)batch->n);
    for (size_t from = 0; from < batch->n;)
        from = run_slice(ctx, value, batch, function, from);
}

/* VIDI.MADD key [guard] url [url ...] */
static int madd(server_context *ctx, server_string **argv, int argc)
{
    batch batch;
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_URLS))
        return SERVER_OK;
    if (argc < 3)
        return server.WrongArity(ctx);
    value *value = value_or_new(ctx, argv[1]);
    if (!value)
        return SERVER_OK;
    batch_take(&batch, argv + 2, argc - 2);
    run_batch(ctx, value, &batch, value_add);
    if (replicate_adds(ctx, argv[1], value, argv + 2, batch.n, batch.verdicts, true))
        value_changed(ctx, argv[1], value, "vidi.add");
    batch_free(&batch);
    return SERVER_OK;
}

static int reply_all_new(server_context *ctx, int n)
{
    server.ReplyWithArray(ctx, n);
    for (int i = 0; i < n; i++)
        server.ReplyWithLongLong(ctx, 1);
    return SERVER_OK;
}

/* VIDI.MHAS key [guard] url [url ...] */
static int mhas(server_context *ctx, server_string **argv, int argc)
{
    batch batch;
    bool absent;
    if (!guard_pass(ctx, &argv, &argc, 2, GUARD_BEFORE_URLS))
        return SERVER_OK;
    if (argc < 3)
        return server.WrongArity(ctx);
    value *value = value_open(ctx, argv[1], FOR_READ, ANY_ROLE, &absent);
    if (!value)
        return absent ? reply_all_new(ctx, argc - 2) : SERVER_OK;
    batch_take(&batch, argv + 2, argc - 2);
    run_batch(ctx, value, &batch, look_up);
    batch_free(&batch);
    return SERVER_OK;
}

/* ---- the table ---- */

/* The key that is made, and the one that it is made like. */
static const server_key_spec reserve_keys[] = {
    KEYS_AT(1, 0, SERVER_KEY_OW | SERVER_KEY_INSERT),
    {.flags = SERVER_KEY_RO | SERVER_KEY_ACCESS,
     .begin = SERVER_BEGIN_KEYWORD,
     .at.keyword = {"LIKE", 2},
     .find = SERVER_FIND_RANGE,
     .keys.range = {0, 1, 0}},
    KEYS_END,
};

static const server_argument error_arguments[] = {
    ARG_WITH("rate", "ERROR", SERVER_ARG_DOUBLE, 0, -1, NULL),
    ARG_WITH("pages", "LOST", SERVER_ARG_DOUBLE, 0, -1, NULL),
    ARG_END,
};
static const server_argument invalid_arguments[] = {
    ARG_WORD("keep", "KEEP"),
    ARG_WORD("drop", "DROP"),
    ARG_WORD("fail", "FAIL"),
    ARG_END,
};
static const server_argument param_arguments[] = {
    ARG("name", SERVER_ARG_STRING),
    ARG("value", SERVER_ARG_STRING),
    ARG_END,
};
static const server_argument reserve_arguments[] = {
    ARG_KEY,
    ARG_OPTION("kind", "KIND", SERVER_ARG_STRING),
    ARG_OPTION("urls", "CAPACITY", SERVER_ARG_INTEGER),
    ARG_ONE_OF("losses", NULL, error_arguments),
    ARG_OPTION("form", "CANON", SERVER_ARG_STRING),
    ARG_OPTION("bytes", "MAXMEMORY", SERVER_ARG_INTEGER),
    ARG_ONE_OF("invalid", "INVALID", invalid_arguments),
    ARG_WITH("parameter", "PARAM", SERVER_ARG_BLOCK,
             SERVER_ARG_OPTIONAL | SERVER_ARG_MULTIPLE | SERVER_ARG_MULTIPLE_TOKEN, -1, param_arguments),
    ARG_WITH("other", "LIKE", SERVER_ARG_KEY, SERVER_ARG_OPTIONAL, 1, NULL),
    ARG_END,
};
static const server_argument url_arguments[] = {ARG_KEY, ARG_GUARD_URLS, ARG("url", SERVER_ARG_STRING), ARG_END};
static const server_argument urls_arguments[] = {ARG_KEY, ARG_GUARD_URLS, ARG_MANY("url", SERVER_ARG_STRING), ARG_END};

const command_entry url_commands[] = {
    {"vidi.reserve", reserve, "write deny-oom getkeys-api", -2, reserve_keys, "Makes an empty set.", "O(1)",
     reserve_arguments},
    {"vidi.add", add, "write deny-oom fast", -3, keys_insert, "Adds a URL: 1 if it is new, 0 if it was seen.", "O(1)",
     url_arguments},
    {"vidi.madd", madd, "write deny-oom", -3, keys_insert,
     "Adds URLs: 1 for each that is new, 0 for each that was seen.", "O(N) where N is the number of URLs",
     urls_arguments},
    {"vidi.has", has, "readonly fast", -3, keys_read, "Looks a URL up: 1 if it would be new, 0 if it was seen.", "O(1)",
     url_arguments},
    {"vidi.mhas", mhas, "readonly", -3, keys_read,
     "Looks URLs up: 1 for each that would be new, 0 for each that was seen.", "O(N) where N is the number of URLs",
     urls_arguments},
    {"vidi.del", del, "write fast", -3, keys_delete, "Removes a URL: 1, or 0 if it is not there.", "O(1)",
     url_arguments},
    {"vidi.count", count, "readonly fast", -3, keys_read, "Tells how often a URL was added.", "O(1)", url_arguments},
    {.name = NULL},
};
