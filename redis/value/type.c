/*
 * The data type of the server that holds values. See type.h; rdb.c and aof.c have the methods for persistence.
 */
#include "type.h"

#include <unistd.h>

#include "claim_io.h"
#include "redis/claims/claims.h"
#include "value.h"

server_type *value_type;

void type_give_up(server_io *io)
{
    server.LogIOError(io, "warning", "vidi cannot save a set: %s", vidi_message());
    if (server.GetContextFlags(NULL) & SERVER_FLAG_IS_CHILD)
        _exit(1);
}

static size_t mem_usage(const void *data)
{
    return value_bytes(data);
}

/* The server frees a value in the background if its effort is above 64: here, from 256 KiB or 64 claims on. */
static size_t free_effort(server_string *key, const void *data)
{
    (void)key;
    const value *value = data;
    uint64_t blocks = claims_count(value->claims);
    return 1 + (size_t)(blocks + (atomic_load(&value->memory.used) >> 12));
}

static void free_value(void *data)
{
    value_close(data);
}

static void *copy(server_string *from, server_string *to, const void *data)
{
    (void)from;
    return value_copy(data, to);
}

static void digest_bytes(server_digest *digest, const void *bytes, size_t len)
{
    server.DigestAddStringBuffer(digest, bytes, len);
}

static void digest_words(server_digest *digest, const settings *settings)
{
    settings_words words;
    settings_print(settings, &words);
    for (size_t i = 0; i < words.count; i++)
        digest_bytes(digest, words.words[i].ptr, words.words[i].len);
}

/*
 * Equal on a primary and its replicas, and after loading: what the value answers to questions, not how it got there or
 * how often it was asked. So a copy has the same digest, with another id. The previous epoch is left out, because each
 * server drops it when its own clock says so.
 */
static void digest(server_digest *digest, void *data)
{
    const value *value = data;
    unsigned char bytes[VIDI_CONTENT_DIGEST_BYTES];
    settings settings = value_settings(value);
    settings.previous_until = settings.clock = 0;
    settings.id = 0;
    digest_words(digest, &settings);
    memory_lift_limits();
    if (vidi_content_digest(value->set, bytes) == VIDI_OK)
        digest_bytes(digest, bytes, sizeof bytes);
    else
        server.Log(NULL, "warning", "vidi cannot digest the contents of a set: %s", vidi_message());
    memory_restore_limits();
    server.DigestEndSequence(digest);
    claims_digest(digest, value);
}

bool type_start(server_context *ctx)
{
    static const server_type_methods methods = {
        .version = SERVER_TYPE_METHODS_VERSION,
        .rdb_load = rdb_load,
        .rdb_save = rdb_save,
        .aof_rewrite = aof_rewrite,
        .mem_usage = mem_usage,
        .digest = digest,
        .free = free_value,
        .free_effort = free_effort,
        .copy = copy,
    };
    value_type = server.CreateDataType(ctx, "vidi-set1", TYPE_ENCODING, &methods);
    return value_type != NULL;
}
