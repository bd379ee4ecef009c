/*
 * The table of commands. Each part of the module has one, and module.c registers them all.
 */
#ifndef REDIS_COMMANDS_H
#define REDIS_COMMANDS_H

#include "redis/server/server.h"

typedef struct command_entry {
    const char *name; /* NULL ends a table */
    server_command_function function;
    const char *flags;           /* as CreateCommand takes them: "write deny-oom fast" */
    int arity;                   /* words, with the command's name; negative: at least this many */
    const server_key_spec *keys; /* one of the lists below, or one of your own; the first must be an index */
    const char *summary;
    const char *complexity;
    const server_argument *arguments; /* ends with a NULL name */
} command_entry;

/* The first argument is the key. */
extern const server_key_spec keys_read[];   /* of a key that is looked at */
extern const server_key_spec keys_insert[]; /* of a key that is added to, and made if it is absent */
extern const server_key_spec keys_update[]; /* of a key that is changed */
extern const server_key_spec keys_delete[]; /* of a key from which items are removed */

/* Shorthands for a list of keys of your own: the arguments from one position to another (0: that one alone). */
#define KEYS_AT(position_, last_, flags_)                                                                              \
    {                                                                                                                  \
        .flags = (flags_), .begin = SERVER_BEGIN_INDEX, .at.index.position = (position_), .find = SERVER_FIND_RANGE,   \
        .keys.range.last = (last_), .keys.range.step = 1                                                               \
    }
#define KEYS_END                                                                                                       \
    {                                                                                                                  \
        .begin = SERVER_BEGIN_NOWHERE                                                                                  \
    }

/* Shorthands for tables of arguments. An ARG_TOKEN is a word that may be left out, an ARG_WORD one that may not. */
#define ARG_WITH(name_, token_, type_, flags_, key_spec_, parts_)                                                      \
    {                                                                                                                  \
        .name = (name_), .token = (token_), .type = (type_), .flags = (flags_), .key_spec = (key_spec_),               \
        .parts = (parts_)                                                                                              \
    }
#define ARG_KEY ARG_WITH("key", NULL, SERVER_ARG_KEY, 0, 0, NULL)
#define ARG(name_, type_) ARG_WITH(name_, NULL, type_, 0, -1, NULL)
#define ARG_MANY(name_, type_) ARG_WITH(name_, NULL, type_, SERVER_ARG_MULTIPLE, -1, NULL)
#define ARG_OPTION(name_, token_, type_) ARG_WITH(name_, token_, type_, SERVER_ARG_OPTIONAL, -1, NULL)
#define ARG_ONE_OF(name_, token_, parts_) ARG_WITH(name_, token_, SERVER_ARG_ONE_OF, SERVER_ARG_OPTIONAL, -1, parts_)
#define ARG_TOKEN(name_, token_) ARG_OPTION(name_, token_, SERVER_ARG_TOKEN)
#define ARG_WORD(name_, token_) ARG_WITH(name_, token_, SERVER_ARG_TOKEN, 0, -1, NULL)
#define ARG_END ARG_WITH(NULL, NULL, SERVER_ARG_STRING, 0, 0, NULL)

/* Registers a table. False if a name is taken; then those before it are registered. */
bool commands_register(server_context *ctx, const command_entry *table);

/*
 * The same, but leaves out names that are taken, and the whole table if that is its first one: another module has such
 * commands. The log says what is left out.
 */
void commands_register_free(server_context *ctx, const command_entry *table);

/* The tables. */
extern const command_entry url_commands[], rotate_merge_commands[], info_commands[], transfer_commands[],
    claim_commands[];
extern const command_entry bf_commands[], cf_commands[];

#endif
