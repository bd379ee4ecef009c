/*
 * Snapshots of values: for RDB files, full synchronization, DUMP and RESTORE, and for the AOF's base file.
 *
 * Encoding version 2:
 *
 *     number of words, then the words of the settings (settings.h), one string each
 *     the set, as vidi_write writes it, cut into strings of 64 KiB; only the last one is shorter, or empty
 *     the claims (claim_io.c)
 *
 * Saving may run in a forked child; it only reads.
 *
 * Nothing that is loaded is trusted. While the server loads its own file or its primary's, the stream goes straight
 * into the set. A value that a client sends with RESTORE is collected first: then its length is known, and the library
 * allocates nothing for a header that promises more than the rest can fill. Either way the library validates the set,
 * and anything wrong makes the server refuse the whole.
 */
#include <string.h>

#include "claim_io.h"
#include "type.h"
#include "value.h"

#define STRING_BYTES ((size_t)64 << 10)

static uint64_t loads;

void type_count_load(void)
{
    loads++;
}

uint64_t type_loads(void)
{
    return loads;
}

/* ---- saving ---- */

/* Cuts a stream into strings of equal length. */
typedef struct cutter {
    server_io *io;
    size_t used;
    char bytes[STRING_BYTES];
} cutter;

static int cut(void *context, const void *data, size_t size)
{
    cutter *cutter = context;
    const char *from = data;
    while (size > 0) {
        size_t room = STRING_BYTES - cutter->used, now = size < room ? size : room;
        memcpy(cutter->bytes + cutter->used, from, now);
        cutter->used += now;
        from += now;
        size -= now;
        if (cutter->used == STRING_BYTES) {
            server.SaveStringBuffer(cutter->io, cutter->bytes, STRING_BYTES);
            cutter->used = 0;
        }
    }
    return 0;
}

static void save_words(server_io *io, const value *value)
{
    settings settings = value_settings(value);
    settings_words words;
    settings_print(&settings, &words);
    server.SaveUnsigned(io, words.count);
    for (size_t i = 0; i < words.count; i++)
        server.SaveStringBuffer(io, words.words[i].ptr, words.words[i].len);
}

void rdb_save(server_io *io, void *data)
{
    const value *value = data;
    cutter *cutter = server.Alloc(sizeof *cutter);
    cutter->io = io;
    cutter->used = 0;
    save_words(io, value);
    memory_lift_limits();
    if (vidi_write(value->set, cut, cutter, VIDI_WRITE_PREVIOUS) != VIDI_OK)
        type_give_up(io);
    memory_restore_limits();
    server.SaveStringBuffer(io, cutter->bytes, cutter->used);
    server.Free(cutter);
    claims_save(io, value);
}

/* ---- loading ---- */

typedef struct part {
    char *bytes;
    size_t len;
} part;

/*
 * All parts that are only zeros share this one. A large filter that holds little is mostly zeros, which take next to
 * nothing in a payload, because the server compresses its strings: they must not take memory either.
 */
static char zeros[STRING_BYTES];

static void share_zeros(part *part)
{
    if (memcmp(part->bytes, zeros, part->len) != 0)
        return;
    server.Free(part->bytes);
    part->bytes = zeros;
}

static void free_bytes(part *part)
{
    if (part->bytes != zeros)
        server.Free(part->bytes);
    part->bytes = NULL;
}

/* The stream of a set. Parts are taken from the list if they were collected, else from the server. */
typedef struct parts {
    server_io *io;
    bool collected;
    bytes list;      /* of struct part */
    size_t taken;    /* bytes of the list */
    uint64_t length; /* of all parts that were collected */
    part now;        /* the part that is being read; its bytes are NULL at first */
    size_t used;     /* of it */
} parts;

static bool load_part(server_io *io, part *part)
{
    part->bytes = server.LoadStringBuffer(io, &part->len);
    if (part->bytes && !server.IsIOError(io) && part->len <= STRING_BYTES)
        return true;
    server.Free(part->bytes);
    part->bytes = NULL;
    return false;
}

static bool is_last(const part *part)
{
    return part->len < STRING_BYTES;
}

static bool collect(parts *parts)
{
    part more;
    parts->collected = true;
    do {
        if (!load_part(parts->io, &more))
            return false;
        share_zeros(&more);
        if (bytes_append(&parts->list, &more, sizeof more) < 0) {
            free_bytes(&more);
            return false;
        }
        parts->length += more.len;
    } while (!is_last(&more));
    return true;
}

static bool next_part(parts *parts)
{
    free_bytes(&parts->now);
    parts->used = 0;
    if (!parts->collected)
        return load_part(parts->io, &parts->now);
    if (parts->taken == parts->list.len)
        return false;
    memcpy(&parts->now, parts->list.ptr + parts->taken, sizeof parts->now);
    parts->taken += sizeof parts->now;
    return true;
}

static int64_t pull(void *context, void *data, size_t size)
{
    parts *parts = context;
    while (!parts->now.bytes || parts->used == parts->now.len) {
        if (parts->now.bytes && is_last(&parts->now))
            return 0;
        if (!next_part(parts))
            return -1;
    }
    size_t left = parts->now.len - parts->used, now = left < size ? left : size;
    memcpy(data, parts->now.bytes + parts->used, now);
    parts->used += now;
    return (int64_t)now;
}

static void drop_parts(parts *parts)
{
    while (parts->collected && next_part(parts))
        ;
    free_bytes(&parts->now);
    bytes_free(&parts->list);
}

static bool load_set(server_io *io, value *value)
{
    parts parts = {.io = io, .list.resize = memory_resize};
    vidi_access access;
    value_access(value, &access);
    access.flags |= VIDI_READ_TO_END;
    bool good = memory_is_loading() || collect(&parts);
    if (good && vidi_read(&value->set, pull, &parts, parts.length, NULL, &access) != VIDI_OK) {
        server.LogIOError(io, "warning", "vidi refuses a damaged set: %s", vidi_message());
        good = false;
    }
    drop_parts(&parts);
    return good;
}

/* Loads words until one is not there: returns how many. */
static size_t load_words(server_io *io, vidi_str *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        part word;
        if (!load_part(io, &word))
            return i;
        words[i] = (vidi_str){word.bytes, word.len};
    }
    return count;
}

static bool load_settings(server_io *io, settings *settings)
{
    vidi_str words[SETTINGS_WORDS];
    uint64_t count = server.LoadUnsigned(io);
    if (server.IsIOError(io) || count > SETTINGS_WORDS)
        return false;
    size_t got = load_words(io, words, (size_t)count);
    settings_init(settings, ROLE_URLS);
    const char *wrong = got < count ? "words are missing" : settings_parse(settings, words, got);
    if (!wrong && !settings->id)
        wrong = "the set has no id";
    if (wrong)
        server.LogIOError(io, "warning", "vidi refuses the settings of a set: %s", wrong);
    for (size_t i = 0; i < got; i++)
        server.Free((void *)(uintptr_t)words[i].ptr);
    return !wrong;
}

void *rdb_load(server_io *io, int version)
{
    settings settings;
    type_count_load();
    if (version != TYPE_ENCODING || !load_settings(io, &settings))
        return NULL;
    value *value = value_new(&settings);
    memory_lift_limits(); /* what was saved was allowed */
    bool good = load_set(io, value) && claims_load(io, value);
    memory_restore_limits();
    if (good) {
        value_refresh(value);
        return value;
    }
    value_close(value);
    return NULL;
}
