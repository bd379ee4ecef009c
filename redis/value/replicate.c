/*
 * Replication. See replicate.h.
 */
#include "replicate.h"

#include "redis/claims/claims.h"

/* ---- whether anybody listens ---- */

static bool somebody_listens = true;

/* A server that has, or had, replicas keeps what it sent them in its backlog. */
static bool has_backlog(server_context *ctx)
{
    int error = 0;
    if (!server.GetServerInfo || !server.FreeServerInfo || !server.ServerInfoGetFieldUnsigned)
        return true;
    server_facts *facts = server.GetServerInfo(ctx, "replication");
    unsigned long long active = server.ServerInfoGetFieldUnsigned(facts, "repl_backlog_active", &error);
    server.FreeServerInfo(ctx, facts);
    return error || active;
}

void replicate_expect_listeners(void)
{
    somebody_listens = true;
}

void replicate_look_around(server_context *ctx)
{
    bool known = server.GetContextFlags(ctx) & (SERVER_FLAG_AOF | SERVER_FLAG_REPLICA);
    somebody_listens = known || has_backlog(ctx);
}

/* ---- commands ---- */

void replicate_reserve(server_context *ctx, server_string *name, const settings *settings)
{
    if (settings->like) { /* the other set is the same there, and may be in a later epoch, which words do not tell */
        char id[TOKEN_DIGITS + 1];
        token_print(settings->id, id);
        server.Replicate(ctx, "VIDI.RESERVE", "scsclcc", name, "LIKE", settings->like, "MAXMEMORY",
                         (long long)settings->max_memory, "ID", id);
        return;
    }
    server_string *strings[SETTINGS_WORDS];
    size_t count = settings_strings(settings, strings);
    server.Replicate(ctx, "VIDI.RESERVE", "sv", name, strings, count);
    settings_free_strings(strings, count);
}

bool replicate_adds(server_context *ctx, server_string *name, const value *value, server_string **items, size_t n,
                    const uint8_t *verdicts, bool verbatim)
{
    size_t stored = 0;
    for (size_t i = 0; i < n; i++)
        stored += value_stored(value, verdicts[i]);
    if (stored == 0)
        return false;
    if (!somebody_listens || (verbatim && stored == n)) {
        server.ReplicateVerbatim(ctx);
        return true;
    }
    if (stored == n) {
        if (n == 1) /* without a vector, which the server would copy */
            server.Replicate(ctx, "VIDI.ADD", "ss", name, items[0]);
        else
            server.Replicate(ctx, "VIDI.MADD", "scv", name, "URLS", items, n);
        return true;
    }
    server_string **chosen = server.Alloc(stored * sizeof *chosen);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (value_stored(value, verdicts[i]))
            chosen[count++] = items[i];
    server.Replicate(ctx, "VIDI.MADD", "scv", name, "URLS", chosen, count);
    server.Free(chosen);
    return true;
}

void replicate_removal(server_context *ctx, server_string *name, server_string *item)
{
    server.Replicate(ctx, "VIDI.DEL", "ss", name, item);
}

void replicate_load(server_context *ctx, server_string *name, uint64_t position, vidi_str piece,
                    const settings *settings)
{
    server_string *strings[SETTINGS_WORDS];
    size_t count = position == 0 ? settings_strings(settings, strings) : 0;
    server.Replicate(ctx, "VIDI.LOAD", "slbv", name, (long long)position, piece.ptr, piece.len, strings, count);
    settings_free_strings(strings, count);
}
