/*
 * The data type of the server that holds values. See type.h.
 *
 * A snapshot (encoding version 1) of a value:
 *
 *     number of words, then the settings as words (settings.h), one string each
 *     the set as the library writes it, in strings; an empty one ends it
 */
#include "type.h"

#include "value.h"

#include <string.h>

enum { ENCODING = 1 };

server_type *value_type;
static uint64_t loads;

uint64_t type_loads(void)
{
    return loads;
}

/* ---- saving ---- */

static int save_part(void *context, const void *data, size_t size)
{
    if (size > 0)
        server.SaveStringBuffer(context, data, size);
    return 0;
}

static void save_settings(server_io *io, const settings *settings)
{
    settings_words words;
    settings_print(settings, &words);
    server.SaveUnsigned(io, words.count);
    for (size_t i = 0; i < words.count; i++)
        server.SaveStringBuffer(io, words.words[i].ptr, words.words[i].len);
}

static void rdb_save(server_io *io, void *data)
{
    value *value = data;
    save_settings(io, &value->settings);
    int error = vidi_write_with(value->set, save_part, io, VIDI_WRITE_PREVIOUS);
    if (error != VIDI_OK)
        server.LogIOError(io, "warning", "vidi cannot save a set: %s", vidi_message());
    server.SaveStringBuffer(io, "", 0);
}

/* ---- loading ---- */

/* A stream that comes in strings. */
typedef struct strings_source {
    server_io *io;
    char *string;
    size_t len, used;
    bool ended;
} strings_source;

static bool next_string(strings_source *source)
{
    if (source->string)
        server.Free(source->string);
    source->used = 0;
    source->string = server.LoadStringBuffer(source->io, &source->len);
    if (!source->string || server.IsIOError(source->io))
        return false;
    source->ended = source->len == 0;
    return true;
}

static int64_t pull(void *context, void *data, size_t size)
{
    strings_source *source = context;
    if (source->ended)
        return 0;
    if (source->used == source->len) {
        if (!next_string(source))
            return -1;
        if (source->ended)
            return 0;
    }
    size_t now = source->len - source->used < size ? source->len - source->used : size;
    memcpy(data, source->string + source->used, now);
    source->used += now;
    return (int64_t)now;
}

static bool load_settings(server_io *io, settings *settings)
{
    vidi_str words[SETTINGS_WORDS];
    uint64_t count = server.LoadUnsigned(io), got = 0;
    bool good = !server.IsIOError(io) && count <= SETTINGS_WORDS;
    for (; good && got < count; got++) {
        words[got].ptr = server.LoadStringBuffer(io, &words[got].len);
        if (!words[got].ptr || server.IsIOError(io))
            break;
    }
    good = good && got == count;
    settings_init(settings, ROLE_URLS);
    if (good && settings_parse(settings, words, got) != NULL)
        good = false;
    for (uint64_t i = 0; i < got; i++)
        server.Free((void *)(uintptr_t)words[i].ptr);
    return good;
}

static bool load_set(server_io *io, value *value)
{
    strings_source source = {.io = io};
    vidi_access access;
    value_access(value, &access);
    access.flags |= VIDI_READ_TO_END;
    int error = vidi_read(&value->set, pull, &source, 0, NULL, &access);
    if (source.string)
        server.Free(source.string);
    if (error != VIDI_OK)
        server.LogIOError(io, "warning", "vidi refuses a damaged set: %s", vidi_message());
    return error == VIDI_OK;
}

static void *rdb_load(server_io *io, int version)
{
    settings settings;
    loads++;
    if (version != ENCODING || !load_settings(io, &settings))
        return NULL;
    value *value = value_new(&settings);
    value->memory.limit = 0; /* what was saved was allowed */
    if (!load_set(io, value)) {
        value_close(value);
        return NULL;
    }
    value->memory.limit = settings.max_memory;
    value_refresh(value);
    return value;
}

/* ---- the rest ---- */

static void aof_rewrite(server_io *io, server_string *key, void *data)
{
    (void)io;
    (void)key;
    (void)data;
}

static size_t mem_usage(const void *data)
{
    return value_bytes(data);
}

/* About one unit for each block that is freed: the server frees what takes more than 64 in the background. */
static size_t free_effort(server_string *key, const void *data)
{
    (void)key;
    const value *value = data;
    return 1 + (size_t)(atomic_load(&value->memory.used) >> 12);
}

static void free_value(void *data)
{
    value_close(data);
}

static void *copy(server_string *from, server_string *to, const void *data)
{
    (void)from;
    (void)to;
    const value *original = data;
    value *made = value_new(&original->settings);
    vidi_access access;
    value_access(made, &access);
    if (vidi_copy(&made->set, original->set, &access) != VIDI_OK) {
        value_close(made);
        return NULL;
    }
    expiry_set(made, original->previous_until);
    made->deleted = original->deleted;
    value_refresh(made);
    return made;
}

static void digest(server_digest *digest, void *data)
{
    const value *value = data;
    unsigned char bytes[VIDI_DIGEST_BYTES];
    if (vidi_content_digest(value->set, bytes) == VIDI_OK)
        server.DigestAddStringBuffer(digest, (const char *)bytes, sizeof(bytes));
    server.DigestEndSequence(digest);
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
    value_type = server.CreateDataType(ctx, "vidi-set1", ENCODING, &methods);
    return value_type != NULL;
}
