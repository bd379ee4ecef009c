/*
 * Looks the server's functions up by name. See server.h.
 */
#include "server.h"

#include <stdio.h>
#include <string.h>

server_api server;

/* Finds a function by name and stores it at *target: 0, or anything else if there is none. */
typedef int (*finder)(const char *name, void *target);

/* The first member of a module's context is the finder. */
static finder finder_of(const server_context *ctx)
{
    finder find;
    memcpy(&find, ctx, sizeof find);
    return find;
}

static bool find_one(finder find, const char *name, void *target)
{
    return find(name, target) == SERVER_OK;
}

bool server_find(server_context *ctx)
{
    finder find = finder_of(ctx);
    const char *missing = NULL;
#define X(result, name, arguments)                                                                                     \
    if (!find_one(find, "RedisModule_" #name, &server.name))                                                           \
        missing = #name;
    SERVER_REQUIRED(X)
#undef X
#define X(result, name, arguments)                                                                                     \
    if (!find_one(find, "RedisModule_" #name, &server.name))                                                           \
        server.name = NULL;
    SERVER_OPTIONAL(X)
#undef X
    if (missing && server.Log)
        server.Log(ctx, "warning", "vidi needs Redis 7.0 or later, or Valkey: this server has no RedisModule_%s",
                   missing);
    else if (missing)
        fprintf(stderr, "vidi needs Redis 7.0 or later, or Valkey: this server has no RedisModule_%s\n", missing);
    return !missing;
}
