/*
 * CF.RESERVE, ADD, ADDNX, INSERT, INSERTNX, EXISTS, MEXISTS, COUNT, DEL and COMPACT: cuckoo filters as RedisBloom has
 * them.
 *
 * Such a filter is a `fingerprint` set that stores every add, which counts and deletes exactly and grows by itself.
 * Buckets, iterations and expansions are what RedisBloom would have: they decide when a filter is full and what CF.INFO
 * tells, and nothing else.
 */
#include <stdio.h>

#include "batch.h"
#include "filters.h"
#include "redis/server/config.h"
#include "redis/value/replicate.h"
#include "redis/value/reply.h"

#define BUCKET_SIZE_MOST 255
#define MAX_ITERATIONS_MOST 65535

static recipe default_recipe(void)
{
    return (recipe){.traits = {.role = ROLE_CF,
                               .capacity = (uint64_t)config.cf_initial_size,
                               .bucket_size = (uint32_t)config.cf_bucket_size,
                               .max_iterations = (uint32_t)config.cf_max_iterations,
                               .expansion = (uint32_t)config.cf_expansion},
                    .create = true};
}

/* ---- CF.RESERVE ---- */

/* An option of CF.RESERVE and where its number goes. */
typedef struct option {
    const char *word;
    uint32_t least, most;
    uint32_t *number;
} option;

/* Takes the number of an option. False after an error was replied. */
static bool take_number(server_context *ctx, const option *option, vidi_str text)
{
    long long number;
    char line[80];
    if (!parse_signed(text, &number)) {
        snprintf(line, sizeof line, "Couldn't parse %s", option->word);
        server.ReplyWithError(ctx, line);
        return false;
    }
    if (number < option->least || number > option->most) {
        snprintf(line, sizeof line, "%s: value must be in the range", option->word);
        reply_range(ctx, line, option->least, option->most);
        return false;
    }
    *option->number = (uint32_t)number;
    return true;
}

/* The words after the capacity, in pairs. False after an error was replied. */
static bool parse_pairs(server_context *ctx, recipe *recipe, server_string **argv, int argc)
{
    static const char *const names[] = {"BUCKETSIZE", "MAXITERATIONS", "EXPANSION", NULL};
    const option options[] = {
        {names[0], 1, BUCKET_SIZE_MOST, &recipe->traits.bucket_size},
        {names[1], 1, MAX_ITERATIONS_MOST, &recipe->traits.max_iterations},
        {names[2], 0, EXPANSION_MOST, &recipe->traits.expansion},
    };
    uint32_t given = 0;
    for (int i = 0; i + 1 < argc; i += 2) {
        int which = option_of(text_of(argv[i]), names, &given);
        if (which < 0) {
            server.ReplyWithError(ctx, no_option(which));
            return false;
        }
        if (!take_number(ctx, &options[which], text_of(argv[i + 1])))
            return false;
    }
    return true;
}

/* CF.RESERVE key capacity [BUCKETSIZE n] [MAXITERATIONS n] [EXPANSION n] */
static int reserve(server_context *ctx, server_string **argv, int argc)
{
    recipe recipe = default_recipe();
    long long capacity;
    if (argc < 3 || argc % 2 == 0)
        return server.WrongArity(ctx);
    if (!parse_signed(text_of(argv[2]), &capacity))
        return server.ReplyWithError(ctx, "Bad capacity");
    if (!parse_pairs(ctx, &recipe, argv + 3, argc - 3))
        return SERVER_OK;
    if (capacity < 2LL * recipe.traits.bucket_size)
        return server.ReplyWithError(ctx, "Capacity must be in the range [2 * BUCKETSIZE, 9223372036854775807]");
    recipe.traits.capacity = (uint64_t)capacity;
    return filter_reserve(ctx, argv[1], &recipe);
}

/* ---- adding ---- */

/* What a command asks for. */
typedef struct request {
    recipe recipe;
    bool if_absent; /* CF.ADDNX, CF.INSERTNX */
    bool many;      /* the reply is an array */
} request;

/* The filter at a key, made if there is none; NULL after an error was replied. */
static value *open_to_add(server_context *ctx, server_string *name, const recipe *recipe)
{
    value *value = filter_open(ctx, name, recipe);
    if (!value || cuckoo_filters(value) < (uint64_t)config.cf_max_expansions)
        return value;
    server.ReplyWithError(ctx, "Maximum expansions reached");
    return NULL;
}

/* CF.INSERTNX answers numbers under RESP3 too: it has three answers. */
static bool answers_numbers(server_context *ctx, const request *request)
{
    return (request->if_absent && request->many) || !speaks_resp3(ctx);
}

static void reply_stored(server_context *ctx, const request *request, bool stored)
{
    if (answers_numbers(ctx, request))
        server.ReplyWithLongLong(ctx, stored);
    else
        server.ReplyWithBool(ctx, stored);
}

/* An item could not be added. */
static void reply_refused(server_context *ctx, const request *request, const value *value, int error)
{
    if (error != VALUE_FULL) {
        reply_failure(ctx, value, error);
        return;
    }
    totals_count_refused();
    if (!request->many)
        server.ReplyWithError(ctx, "Filter is full");
    else if (answers_numbers(ctx, request))
        server.ReplyWithLongLong(ctx, -1);
    else
        server.ReplyWithBool(ctx, 0);
}

static void add_all(server_context *ctx, const request *request, value *value, batch *batch)
{
    int error = value_add(value, batch->items, batch->n, batch->verdicts);
    for (size_t i = 0; i < batch->n; i++) {
        if (batch->verdicts[i] == VIDI_UNTRIED)
            reply_refused(ctx, request, value, error);
        else
            reply_stored(ctx, request, true);
    }
}

/* Items that are there already are not tried, so that replicas do not get them. */
static void add_absent(server_context *ctx, const request *request, value *value, batch *batch)
{
    for (size_t i = 0; i < batch->n; i++) {
        batch->verdicts[i] = VIDI_UNTRIED;
        if (value_has(value, batch->items[i]) == VIDI_SEEN) {
            reply_stored(ctx, request, false);
            continue;
        }
        int error = value_add(value, &batch->items[i], 1, &batch->verdicts[i]);
        if (error)
            reply_refused(ctx, request, value, error);
        else
            reply_stored(ctx, request, true);
    }
}

static int add_items(server_context *ctx, server_string *name, server_string **items, int n, const request *request)
{
    batch batch;
    value *value = open_to_add(ctx, name, &request->recipe);
    if (!value)
        return SERVER_OK;
    batch_take(&batch, items, n);
    if (request->many)
        server.ReplyWithArray(ctx, n);
    if (request->if_absent)
        add_absent(ctx, request, value, &batch);
    else
        add_all(ctx, request, value, &batch);
    if (replicate_adds(ctx, name, value, items, batch.n, batch.verdicts, false))
        value_changed(ctx, name, value, "vidi.add");
    batch_free(&batch);
    return SERVER_OK;
}

static int add_one(server_context *ctx, server_string **argv, int argc, bool if_absent)
{
    request request = {.recipe = default_recipe(), .if_absent = if_absent};
    if (argc != 3)
        return server.WrongArity(ctx);
    return add_items(ctx, argv[1], argv + 2, 1, &request);
}

/* CF.ADD key item */
static int add(server_context *ctx, server_string **argv, int argc)
{
    return add_one(ctx, argv, argc, false);
}

/* CF.ADDNX key item */
static int addnx(server_context *ctx, server_string **argv, int argc)
{
    return add_one(ctx, argv, argc, true);
}

static const char *const insert_options[] = {"NOCREATE", "CAPACITY", NULL};

static const char *take_option(recipe *recipe, int option, vidi_str text)
{
    long long capacity = 0;
    if (option == 0) {
        recipe->create = false;
        return NULL;
    }
    if (!parse_signed(text, &capacity))
        return "Bad capacity";
    recipe->traits.capacity = (uint64_t)capacity;
    return capacity >= 2LL * recipe->traits.bucket_size
               ? NULL
               : "Capacity must be in the range [cf-bucket-size * 2, 9223372036854775807]";
}

static int insert_items(server_context *ctx, server_string **argv, int argc, bool if_absent)
{
    request request = {.recipe = default_recipe(), .if_absent = if_absent, .many = true};
    if (argc < 4)
        return server.WrongArity(ctx);
    int first = filter_options(ctx, &request.recipe, argv, argc, insert_options, 1, take_option);
    return first ? add_items(ctx, argv[1], argv + first, argc - first, &request) : SERVER_OK;
}

/* CF.INSERT key [CAPACITY n] [NOCREATE] ITEMS item [item ...] */
static int insert(server_context *ctx, server_string **argv, int argc)
{
    return insert_items(ctx, argv, argc, false);
}

/* CF.INSERTNX key [CAPACITY n] [NOCREATE] ITEMS item [item ...] */
static int insertnx(server_context *ctx, server_string **argv, int argc)
{
    return insert_items(ctx, argv, argc, true);
}

/* ---- asking: an absent key and one of another type hold nothing ---- */

/* CF.EXISTS key item */
static int exists(server_context *ctx, server_string **argv, int argc)
{
    return filter_exists(ctx, argv, argc, ROLE_CF);
}

/* CF.MEXISTS key item [item ...] */
static int mexists(server_context *ctx, server_string **argv, int argc)
{
    return filter_mexists(ctx, argv, argc, ROLE_CF);
}

/* CF.COUNT key item */
static int count(server_context *ctx, server_string **argv, int argc)
{
    uint64_t times = 0;
    if (argc != 3)
        return server.WrongArity(ctx);
    const value *value = value_if_there(ctx, argv[1], ROLE_CF);
    int error = value ? value_count(value, text_of(argv[2]), &times) : VIDI_OK;
    return error ? reply_failure(ctx, value, error) : server.ReplyWithLongLong(ctx, (long long)times);
}

/* ---- removing ---- */

/* CF.DEL key item */
static int del(server_context *ctx, server_string **argv, int argc)
{
    if (argc != 3)
        return server.WrongArity(ctx);
    value *value = value_if_there(ctx, argv[1], ROLE_CF);
    if (!value)
        return server.ReplyWithError(ctx, "Not found");
    int code = value_remove(value, text_of(argv[2]));
    if (code != VIDI_OK && code != VIDI_EABSENT)
        return reply_failure(ctx, value, code);
    if (code == VIDI_OK) {
        replicate_removal(ctx, argv[1], argv[2]);
        value_changed(ctx, argv[1], value, "vidi.del");
    }
    return server.ReplyWithBool(ctx, code == VIDI_OK);
}

/* CF.COMPACT key. There is nothing to do: a fingerprint set gives the room of what was removed to what comes next. */
static int compact(server_context *ctx, server_string **argv, int argc)
{
    if (argc != 2)
        return server.WrongArity(ctx);
    if (!value_if_there(ctx, argv[1], ROLE_CF))
        return server.ReplyWithError(ctx, "Cuckoo filter was not found");
    return server.ReplyWithSimpleString(ctx, "OK");
}

/* ---- the table ---- */

static const server_argument reserve_arguments[] = {
    ARG_KEY,
    ARG("capacity", SERVER_ARG_INTEGER),
    ARG_OPTION("bucketsize", "BUCKETSIZE", SERVER_ARG_INTEGER),
    ARG_OPTION("maxiterations", "MAXITERATIONS", SERVER_ARG_INTEGER),
    ARG_OPTION("expansion", "EXPANSION", SERVER_ARG_INTEGER),
    ARG_END,
};
static const server_argument insert_arguments[] = {
    ARG_KEY,
    ARG_OPTION("capacity", "CAPACITY", SERVER_ARG_INTEGER),
    ARG_TOKEN("nocreate", "NOCREATE"),
    ARG_WORD("items", "ITEMS"),
    ARG_MANY("item", SERVER_ARG_STRING),
    ARG_END,
};

const command_entry cf_commands[] = {
    {"cf.reserve", reserve, "write deny-oom", -3, keys_insert, "Makes an empty cuckoo filter.", "O(1)",
     reserve_arguments},
    {"cf.add", add, "write deny-oom fast", 3, keys_insert, "Adds an item to a cuckoo filter, which is made if absent.",
     "O(1)", item_arguments},
    {"cf.addnx", addnx, "write deny-oom fast", 3, keys_insert, "Adds an item to a cuckoo filter unless it is there.",
     "O(1)", item_arguments},
    {"cf.insert", insert, "write deny-oom", -4, keys_insert,
     "Adds items to a cuckoo filter, which is made as the options say if it is absent.", EACH_ITEM, insert_arguments},
    {"cf.insertnx", insertnx, "write deny-oom", -4, keys_insert,
     "Adds the items that are not there to a cuckoo filter, which is made if absent.", EACH_ITEM, insert_arguments},
    {"cf.exists", exists, "readonly fast", 3, keys_read, "Tells whether a cuckoo filter has an item.", "O(1)",
     item_arguments},
    {"cf.mexists", mexists, "readonly fast", -3, keys_read, "Tells for each item whether a cuckoo filter has it.",
     EACH_ITEM, items_arguments},
    {"cf.count", count, "readonly fast", 3, keys_read, "Tells how often an item was added to a cuckoo filter.", "O(1)",
     item_arguments},
    {"cf.del", del, "write fast", 3, keys_delete, "Removes an item from a cuckoo filter, once.", "O(1)",
     item_arguments},
    {"cf.compact", compact, "readonly fast", 2, keys_read, "Does nothing: our filters need no compaction.", "O(1)",
     key_arguments},
    {"cf.info", cf_info, "readonly fast", 2, keys_read, "Tells size and contents of a cuckoo filter.", "O(1)",
     key_arguments},
    {"cf.debug", cf_debug, "readonly fast", 2, keys_read, "Describes a cuckoo filter in a line.", "O(1)",
     key_arguments},
    {"cf.scandump", cf_scandump, "readonly fast", 3, keys_read, "Returns a chunk of a cuckoo filter, to be saved.",
     EACH_BYTE, scandump_arguments},
    {"cf.loadchunk", cf_loadchunk, "write deny-oom", 4, keys_insert, "Restores a chunk that CF.SCANDUMP answered.",
     EACH_BYTE, loadchunk_arguments},
    {.name = NULL},
};
