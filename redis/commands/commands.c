/*
 * Registers tables of commands. See commands.h.
 */
#include "commands.h"

#include <stdio.h>
#include <string.h>

const server_key_spec keys_read[] = {KEYS_AT(1, 0, SERVER_KEY_RO | SERVER_KEY_ACCESS), KEYS_END};
const server_key_spec keys_insert[] = {KEYS_AT(1, 0, SERVER_KEY_RW | SERVER_KEY_INSERT), KEYS_END};
const server_key_spec keys_update[] = {KEYS_AT(1, 0, SERVER_KEY_RW | SERVER_KEY_UPDATE), KEYS_END};
const server_key_spec keys_delete[] = {KEYS_AT(1, 0, SERVER_KEY_RW | SERVER_KEY_DELETE), KEYS_END};

static const server_info_version info_version = {
    .version = 1,
    .history_size = sizeof(server_history),
    .key_spec_size = sizeof(server_key_spec),
    .argument_size = sizeof(server_argument),
};

/*
 * Categories of access lists: a family's own (@vidi, and as in RedisBloom @bloom and @cuckoo) where the server lets
 * modules add some. It is there already from the second command on, or because another module has it. A server that
 * knows none of ours takes the others.
 */
static void categorize(server_context *ctx, server_command *command, const command_entry *entry)
{
    const char *family = entry->name[0] == 'v' ? "vidi" : entry->name[0] == 'b' ? "bloom" : "cuckoo";
    char categories[40];
    int common = snprintf(categories, sizeof categories, "%s %s", strstr(entry->flags, "write") ? "write" : "read",
                          strstr(entry->flags, "fast") ? "fast" : "slow");
    if (!server.SetCommandACLCategories)
        return;
    if (server.AddACLCategory) {
        server.AddACLCategory(ctx, family);
        snprintf(categories + common, sizeof categories - (size_t)common, " %s", family);
    }
    if (server.SetCommandACLCategories(command, categories) == SERVER_OK)
        return;
    categories[common] = 0;
    server.SetCommandACLCategories(command, categories);
}

/* COMMAND DOCS and COMMAND INFO. A server that refuses a description still has the command. */
static void describe(server_context *ctx, server_command *command, const command_entry *entry)
{
    server_command_info info = {
        .version = &info_version,
        .summary = entry->summary,
        .complexity = entry->complexity,
        .since = "0.1.0",
        .arity = entry->arity,
        .keys = entry->keys,
        .arguments = entry->arguments,
    };
    if (server.SetCommandInfo && server.SetCommandInfo(command, &info) != SERVER_OK)
        server.Log(ctx, "warning", "the server does not take the description of %s", entry->name);
    categorize(ctx, command, entry);
}

/*
 * While a slot moves, Redis from 8.4 on asks each command that it passes on for its keys. If that has the flag
 * getkeys-api, asking passes on what waits to be passed on, and so forth until the stack is full and the server dies. It
 * can do without: there, clusters go by the specifications of keys, too.
 */
static const char *flags_here(const command_entry *entry)
{
    bool is_valkey = server.GetModuleOptionsAll && (server.GetModuleOptionsAll() & SERVER_HANDLES_SLOT_MIGRATION);
    bool may_die = server.GetServerVersion && server.GetServerVersion() >= 0x080400 && !is_valkey;
    return may_die && strstr(entry->flags, "getkeys-api") ? "write deny-oom" : entry->flags;
}

static bool register_one(server_context *ctx, const command_entry *entry)
{
    int first = 0, last = 0, step = 0;
    if (entry->keys) {
        first = entry->keys->at.index.position;
        last = entry->keys->keys.range.last < 0 ? entry->keys->keys.range.last : first + entry->keys->keys.range.last;
        step = entry->keys->keys.range.step;
    }
    if (server.CreateCommand(ctx, entry->name, entry->function, flags_here(entry), first, last, step) != SERVER_OK)
        return false;
    describe(ctx, server.GetCommand(ctx, entry->name), entry);
    return true;
}

bool commands_register(server_context *ctx, const command_entry *table)
{
    for (; table->name; table++)
        if (!register_one(ctx, table))
            return false;
    return true;
}

void commands_register_free(server_context *ctx, const command_entry *table)
{
    const command_entry *first = table;
    for (; table->name; table++) {
        if (register_one(ctx, table))
            continue;
        server.Log(ctx, "notice", "vidi does not register %s%s, because another module has it already", table->name,
                   table == first ? " and the commands like it" : "");
        if (table == first)
            return;
    }
}
