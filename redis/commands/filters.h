/*
 * BF.* and CF.*: the commands of RedisBloom on sets of ours, so that its clients work unchanged. Arguments, types of
 * replies and texts of errors are RedisBloom's, because clients depend on them; some of its errors have no "ERR" in
 * front. docs/REDIS.md has a table of what differs.
 */
#ifndef REDIS_FILTERS_H
#define REDIS_FILTERS_H

#include "commands.h"
#include "redis/value/value.h"

/* The largest EXPANSION, of both families. */
#define EXPANSION_MOST 32768

/* The error for an option that is unknown, or given twice (RedisBloom allows that); see option_of. */
const char *no_option(int option);

/* The error for a key that is needed and absent. */
int reply_not_found(server_context *ctx);

/* The filter of this role at a key, to be read; NULL after an error was replied. */
const value *filter_needed(server_context *ctx, server_string *name, value_role role);

/* How a filter is made. */
typedef struct recipe {
    traits traits;
    bool create; /* if there is none */
    bool fixed;  /* it does not scale, whatever the expansion is */
} recipe;

/* RESERVE: makes a filter, and replies. */
int filter_reserve(server_context *ctx, server_string *name, const recipe *recipe);

/* The filter at a key, made if there is none; NULL after an error was replied. */
value *filter_open(server_context *ctx, server_string *name, const recipe *recipe);

/* Takes an option of INSERT, whose text is empty if it has none: NULL, or the error. */
typedef const char *(*option_function)(recipe *recipe, int option, vidi_str text);

/*
 * Takes the options of INSERT, of which the first `alone` have no text. Returns the index of the first item, or 0 after
 * an error was replied.
 */
int filter_options(server_context *ctx, recipe *recipe, server_string **argv, int argc, const char *const *names,
                   int alone, option_function take);

/* The error for a number out of range: the text, followed by [least, most]. */
int reply_range(server_context *ctx, const char *text, uint64_t least, uint64_t most);

bool speaks_resp3(server_context *ctx);

/* A field of INFO. */
void reply_field(server_context *ctx, const char *name, uint64_t number);

/* How many items a filter holds, for INFO. */
uint64_t filter_items(const value *value);

/* Cuckoo filters: how many filters RedisBloom would need for the items. */
uint64_t cuckoo_filters(const value *value);

/* EXISTS and MEXISTS: an absent key and one of another type hold nothing. */
int filter_exists(server_context *ctx, server_string **argv, int argc, value_role role);
int filter_mexists(server_context *ctx, server_string **argv, int argc, value_role role);

/* For the tables of commands. */
extern const server_argument key_arguments[], item_arguments[], items_arguments[], scandump_arguments[],
    loadchunk_arguments[];
#define EACH_ITEM "O(N) where N is the number of items"
#define EACH_BYTE "O(N) where N is the size of the chunk"

/* Commands that the two tables take from bf_info.c, cf_info.c and chunks.c. */
int bf_info(server_context *ctx, server_string **argv, int argc);
int bf_debug(server_context *ctx, server_string **argv, int argc);
int bf_scandump(server_context *ctx, server_string **argv, int argc);
int bf_loadchunk(server_context *ctx, server_string **argv, int argc);
int cf_info(server_context *ctx, server_string **argv, int argc);
int cf_debug(server_context *ctx, server_string **argv, int argc);
int cf_scandump(server_context *ctx, server_string **argv, int argc);
int cf_loadchunk(server_context *ctx, server_string **argv, int argc);

#endif
