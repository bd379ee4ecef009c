/*
 * The module's entry: what happens when the server loads it.
 */
#include <vidi/vidi.h>

#include "redis/commands/commands.h"
#include "redis/server/background.h"
#include "redis/server/config.h"
#include "redis/server/memory.h"
#include "redis/server/server.h"
#include "redis/value/expiry.h"
#include "redis/value/replicate.h"
#include "redis/value/totals.h"
#include "redis/value/type.h"

enum { MODULE_VERSION = VIDI_VERSION_MAJOR * 10000 + VIDI_VERSION_MINOR * 100 + VIDI_VERSION_PATCH };

__attribute__((visibility("default"))) int RedisModule_OnLoad(server_context *ctx, server_string **argv, int argc);

/* ---- events ---- */

/*
 * Limits hold on a primary that is not loading. A change of the role, loading, and a forked child, which writes the
 * snapshot that a replica or the append-only file begins with, all mean that somebody may listen from now on.
 */
static void on_event(server_context *ctx, server_event event, uint64_t subevent, void *data)
{
    (void)data;
    if (event.id == SERVER_EVENT_CRON) {
        expiry_run();
        replicate_look_around(ctx);
        return;
    }
    if (event.id == SERVER_EVENT_ROLE)
        memory_set_primary(subevent == SERVER_NOW_PRIMARY);
    if (event.id == SERVER_EVENT_LOADING)
        memory_set_loading(subevent < SERVER_LOADING_ENDED);
    replicate_expect_listeners();
}

static void subscribe(server_context *ctx)
{
    static const uint64_t events[] = {SERVER_EVENT_ROLE, SERVER_EVENT_LOADING, SERVER_EVENT_CRON, SERVER_EVENT_FORK};
    int flags = server.GetContextFlags(ctx);
    memory_set_primary(!(flags & SERVER_FLAG_REPLICA));
    memory_set_loading(flags & SERVER_FLAG_LOADING);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        server.SubscribeToServerEvent(ctx, (server_event){events[i], 1}, on_event);
}

/*
 * Without the last option, Valkey moves no slots in one step (CLUSTER MIGRATESLOTS) while the module is loaded. Their
 * keys arrive as the commands that aof.c writes, and nobody sees them before all are there.
 */
static int options(void)
{
    int known = server.GetModuleOptionsAll ? server.GetModuleOptionsAll() : 0;
    return SERVER_HANDLES_IO_ERRORS | SERVER_SIGNALS_CHANGES_ITSELF | (known & SERVER_HANDLES_SLOT_MIGRATION);
}

/* ---- INFO ---- */

static void on_info(server_info *info, int for_crash_report)
{
    (void)for_crash_report;
    server.InfoAddSection(info, ""); /* "vidi" */
    server.InfoAddFieldCString(info, "version", vidi_version());
    server.InfoAddFieldCString(info, "cpu", vidi_cpu());
    totals totals = totals_now();
    server.InfoAddFieldULongLong(info, "sets", totals.sets);
    server.InfoAddFieldULongLong(info, "urls", totals.urls);
    server.InfoAddFieldULongLong(info, "claims", totals.claims);
    server.InfoAddFieldULongLong(info, "refused", totals.refused);
    server.InfoAddFieldULongLong(info, "misplaced", totals.misplaced);
    server.InfoAddFieldULongLong(info, "memory_bytes", memory_total());
    server.InfoAddFieldULongLong(info, "bytes_to_free", background_bytes());
    server.InfoAddFieldULongLong(info, "loads", type_loads());
}

/* ---- commands ---- */

/* BF.* and CF.*, which another module may have. */
static bool register_compatible(server_context *ctx)
{
    if (config.bf_compat == COMPAT_YES)
        return commands_register(ctx, bf_commands) && commands_register(ctx, cf_commands);
    if (config.bf_compat == COMPAT_AUTO) {
        commands_register_free(ctx, bf_commands);
        commands_register_free(ctx, cf_commands);
    }
    return true;
}

static bool register_commands(server_context *ctx)
{
    return commands_register(ctx, url_commands) && commands_register(ctx, rotate_merge_commands) &&
           commands_register(ctx, info_commands) && commands_register(ctx, transfer_commands) &&
           commands_register(ctx, claim_commands) && register_compatible(ctx);
}

/* The library prepares some things with the first set of a process; this way no command waits for it. */
static bool warm_up(server_context *ctx)
{
    vidi_set *set = NULL;
    vidi_options options = VIDI_OPTIONS_INIT;
    options.capacity = 1000;
    if (vidi_create(&set, &options) != VIDI_OK || vidi_add(set, (vidi_str){"http://example.org/", 19}) < 0) {
        server.Log(ctx, "warning", "vidi cannot make a set: %s", vidi_message());
        vidi_close(set);
        return false;
    }
    vidi_close(set);
    return true;
}

int RedisModule_OnLoad(server_context *ctx, server_string **argv, int argc)
{
    if (!server_find(ctx) || server.IsModuleNameBusy("vidi"))
        return SERVER_ERR;
    server.SetModuleAttribs(ctx, "vidi", MODULE_VERSION, SERVER_API_VERSION);
    server.SetModuleOptions(ctx, options());
    memory_start();
    if (!config_start(ctx, argv, argc) || !type_start(ctx) || !register_commands(ctx) || !warm_up(ctx))
        return SERVER_ERR;
    server.RegisterInfoFunc(ctx, on_info);
    subscribe(ctx);
    return SERVER_OK;
}
