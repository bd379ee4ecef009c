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
    int arity;                   /* words with the command's name; negative: at least so many */
    const server_key_spec *keys; /* one of the lists below, or one of your own; the first must be an index */
    const char *summary;
    const char *complexity;
    const server_argument *arguments; /* ends with a NULL name; NULL: not described */
    const char *since;                /* NULL: 0.1.0 */
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
#define ARG_KEY                                                                                                        \
    {                                                                                                                  \
        .name = "key", .type = SERVER_ARG_KEY, .key_spec = 0                                                           \
    }
#define ARG(name_, type_)                                                                                              \
    {                                                                                                                  \
        .name = (name_), .type = (type_), .key_spec = -1                                                               \
    }
#define ARG_MANY(name_, type_)                                                                                         \
    {                                                                                                                  \
        .name = (name_), .type = (type_), .key_spec = -1, .flags = SERVER_ARG_MULTIPLE                                 \
    }
#define ARG_OPTION(name_, token_, type_)                                                                               \
    {                                                                                                                  \
        .name = (name_), .token = (token_), .type = (type_), .key_spec = -1, .flags = SERVER_ARG_OPTIONAL              \
    }
#define ARG_OPTION_MANY(name_, token_, type_)                                                                          \
    {                                                                                                                  \
        .name = (name_), .token = (token_), .type = (type_), .key_spec = -1,                                           \
        .flags = SERVER_ARG_OPTIONAL | SERVER_ARG_MULTIPLE | SERVER_ARG_MULTIPLE_TOKEN                                 \
    }
#define ARG_TOKEN(name_, token_)                                                                                       \
    {                                                                                                                  \
        .name = (name_), .token = (token_), .type = SERVER_ARG_TOKEN, .key_spec = -1, .flags = SERVER_ARG_OPTIONAL     \
    }
#define ARG_WORD(name_, token_)                                                                                        \
    {                                                                                                                  \
        .name = (name_), .token = (token_), .type = SERVER_ARG_TOKEN, .key_spec = -1                                   \
    }
#define ARG_END                                                                                                        \
    {                                                                                                                  \
        .name = NULL                                                                                                   \
    }

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
