/*
 * BF.SCANDUMP and BF.LOADCHUNK, CF.SCANDUMP and CF.LOADCHUNK: a filter leaves and enters the server in chunks.
 *
 * A chunk is a chunk_head, then words, then a piece of the set as VIDI.DUMP answers it, with checksums of its own. The
 * words are those of the settings, each followed by a zero byte; only the first chunk has any.
 *
 * Iterators, which must survive a client that keeps numbers as doubles:
 *
 *     0         asks for the first chunk, which comes with the iterator 1 and makes the key when it is loaded
 *     1         asks for the second
 *     2         came with the last chunk, and asks for the end
 *     2^44 …    cursors of pieces, less than 2^53; each comes with a chunk and asks for the next one
 *
 * Any other iterator gets the end, as in RedisBloom. But if something was removed from the filter since the first
 * chunk, that is an error: an end would pass off half a filter as a whole one.
 */
#include <stdio.h>
#include <string.h>

#include "common/fnv.h"
#include "filters.h"
#include "redis/server/memory.h"
#include "redis/value/replicate.h"
#include "redis/value/reply.h"

#define CHUNK_MOST ((size_t)16 << 20)
#define MAGIC "VIDICHNK"
#define VERSION 1

/* Numbers are little-endian, as on every machine that the library runs on. */
typedef struct chunk_head {
    char magic[8];
    uint32_t version;
    uint32_t words_len; /* bytes */
    uint64_t checksum;  /* FNV-1a of version, words_len and the words */
} chunk_head;

enum { ASK_FIRST = 0, ASK_SECOND = 1, ASK_END = 2 };
#define LEAST_CURSOR (1LL << 44)
#define CURSORS_END (1LL << 53)

/* What differs between the two families. */
typedef struct family {
    value_role role;
    const char *bad_iterator; /* of SCANDUMP, and of LOADCHUNK with ERR in front */
    const char *bad_head;     /* the first chunk is none of ours */
    const char *bad_chunk;    /* a later one */
    const char *key_exists;   /* the first chunk for a key that is there */
    bool empty_dumps_nothing; /* an empty filter has no chunks */
    bool negative_is_wrong;   /* iterators below 0 */
    bool end_is_null;         /* the end comes with null and not with an empty string */
} family;

static const family bloom = {
    .role = ROLE_BF,
    .bad_iterator = "Second argument must be numeric",
    .bad_head = "ERR received bad data",
    .bad_chunk = "ERR received bad data",
    .key_exists = "ERR received bad data: the key exists already",
};
static const family cuckoo = {
    .role = ROLE_CF,
    .bad_iterator = "Invalid position",
    .bad_head = "Invalid header",
    .bad_chunk = "Couldn't load chunk!",
    .key_exists = "ERR item exists",
    .empty_dumps_nothing = true,
    .negative_is_wrong = true,
    .end_is_null = true,
};

/* ---- the head ---- */

/* It finds accidents; whoever forges a chunk can compute it, too. */
static uint64_t checksum_of(const chunk_head *head, const char *words)
{
    uint64_t sum = fnv_bytes(FNV_START, &head->version, sizeof head->version + sizeof head->words_len);
    return fnv_bytes(sum, words, head->words_len);
}

/* Begins a chunk; settings are NULL for all but the first. */
static void put_head(bytes *chunk, const settings *settings)
{
    settings_words words = {0};
    bytes texts = {.resize = memory_resize};
    if (settings)
        settings_print(settings, &words);
    for (size_t i = 0; i < words.count; i++) {
        bytes_append(&texts, words.words[i].ptr, words.words[i].len);
        bytes_append(&texts, "", 1);
    }
    chunk_head head = {MAGIC, VERSION, (uint32_t)texts.len, 0};
    head.checksum = checksum_of(&head, texts.ptr);
    bytes_append(chunk, &head, sizeof head);
    bytes_append(chunk, texts.ptr, texts.len);
    bytes_free(&texts);
}

/* A chunk taken apart. */
typedef struct parts {
    vidi_str words; /* each ends in a zero byte */
    vidi_str piece;
} parts;

/* False if it is not a chunk of this module, or its head is damaged. */
static bool take_apart(vidi_str chunk, parts *parts)
{
    chunk_head head;
    if (chunk.len < sizeof head)
        return false;
    memcpy(&head, chunk.ptr, sizeof head);
    if (memcmp(head.magic, MAGIC, sizeof head.magic) != 0 || head.version != VERSION ||
        head.words_len > chunk.len - sizeof head)
        return false;
    parts->words = (vidi_str){chunk.ptr + sizeof head, head.words_len};
    parts->piece = (vidi_str){parts->words.ptr + head.words_len, chunk.len - sizeof head - head.words_len};
    return head.checksum == checksum_of(&head, parts->words.ptr);
}

/* NULL, or what is wrong with the words. */
static const char *read_settings(settings *settings, vidi_str texts, value_role role)
{
    vidi_str words[SETTINGS_WORDS];
    size_t count = 0;
    while (texts.len && count < SETTINGS_WORDS) {
        const char *end = memchr(texts.ptr, 0, texts.len);
        if (!end)
            break;
        words[count] = (vidi_str){texts.ptr, (size_t)(end - texts.ptr)};
        texts.len -= words[count].len + 1;
        texts.ptr = end + 1;
        count++;
    }
    settings_init(settings, role);
    const char *wrong = texts.len ? "its settings are damaged" : settings_parse(settings, words, count);
    settings->awaits = false; /* the pieces say themselves which one comes next */
    return wrong || settings->role == role ? wrong : "it is of another type of filter";
}

/* ---- SCANDUMP ---- */

static int discard(void *context, const void *data, size_t size)
{
    (void)context;
    (void)data;
    (void)size;
    return 0;
}

static int reply_end(server_context *ctx, const family *family)
{
    server.ReplyWithArray(ctx, 2);
    server.ReplyWithLongLong(ctx, 0);
    return family->end_is_null ? server.ReplyWithNull(ctx) : server.ReplyWithStringBuffer(ctx, "", 0);
}

/* The cursor of the piece that an iterator asks for. */
static int find_cursor(const value *value, long long iterator, uint64_t *cursor)
{
    *cursor = iterator >= LEAST_CURSOR ? (uint64_t)iterator : 0;
    return iterator == ASK_SECOND ? value_piece(value, cursor, CHUNK_MOST, discard, NULL) : VIDI_OK;
}

static void reply_chunk(server_context *ctx, long long iterator, uint64_t next, const bytes *chunk)
{
    server.ReplyWithArray(ctx, 2);
    if (iterator == ASK_FIRST && next)
        server.ReplyWithLongLong(ctx, ASK_SECOND);
    else
        server.ReplyWithLongLong(ctx, next ? (long long)next : ASK_END);
    server.ReplyWithStringBuffer(ctx, chunk->ptr, chunk->len);
}

static int dump_chunk(server_context *ctx, const family *family, const value *value, long long iterator)
{
    bytes chunk = {.resize = memory_resize};
    settings settings = value_settings(value);
    settings.awaits = false; /* of a filter that is itself incomplete */
    settings.id = 0;         /* what is loaded is another filter */
    uint64_t cursor;
    put_head(&chunk, iterator == ASK_FIRST ? &settings : NULL);
    int code = find_cursor(value, iterator, &cursor);
    if (code == VIDI_OK)
        code = value_piece(value, &cursor, CHUNK_MOST - chunk.len, bytes_collect, &chunk);
    if (code == VIDI_EARGUMENT)
        reply_end(ctx, family);
    else if (code < 0)
        reply_failure(ctx, value, code);
    else
        reply_chunk(ctx, iterator, cursor, &chunk);
    bytes_free(&chunk);
    return SERVER_OK;
}

static bool asks_for_chunk(long long iterator)
{
    return iterator == ASK_FIRST || iterator == ASK_SECOND || (iterator >= LEAST_CURSOR && iterator < CURSORS_END);
}

static bool parse_iterator(const family *family, server_string *text, long long *iterator)
{
    return parse_signed(text_of(text), iterator) && !(family->negative_is_wrong && *iterator < 0);
}

/* RedisBloom looks at the key of a Bloom filter first, and at the iterator of a cuckoo filter. */
static int scandump(server_context *ctx, server_string **argv, int argc, const family *family)
{
    long long iterator;
    if (argc != 3)
        return server.WrongArity(ctx);
    bool good = parse_iterator(family, argv[2], &iterator);
    if (!good && family->role == ROLE_CF)
        return server.ReplyWithError(ctx, family->bad_iterator);
    const value *value = filter_needed(ctx, argv[1], family->role);
    if (!value)
        return SERVER_OK;
    if (!good)
        return server.ReplyWithError(ctx, family->bad_iterator);
    if (!asks_for_chunk(iterator) || (family->empty_dumps_nothing && filter_items(value) == 0))
        return reply_end(ctx, family);
    return dump_chunk(ctx, family, value, iterator);
}

/* ---- LOADCHUNK ---- */

/* Refuses a chunk: RedisBloom's words, and why. */
static int refuse(server_context *ctx, const char *text, const char *why)
{
    char front[64];
    snprintf(front, sizeof front, "%s: ", text);
    return reply_error_after(ctx, front, why);
}

#define NOT_OURS                                                                                                       \
    "this is not a chunk of this module. Filters of RedisBloom cannot be loaded; add their items to a new filter"

/* A chunk was taken: tells replicas. */
static int loaded(server_context *ctx, server_string *name, value *value, vidi_str piece, uint64_t position)
{
    settings settings = value_settings(value);
    settings.awaits = false;
    replicate_load(ctx, name, position, piece, &settings);
    value_changed(ctx, name, value, "vidi.load");
    return server.ReplyWithSimpleString(ctx, "OK");
}

static int load_first(server_context *ctx, server_string *name, const parts *parts, const family *family)
{
    settings settings;
    const char *wrong = read_settings(&settings, parts->words, family->role);
    if (wrong)
        return refuse(ctx, family->bad_head, wrong);
    value *made = value_new(&settings);
    if (value_take_piece(made, parts->piece) < 0 || !value_put(ctx, name, made)) {
        refuse(ctx, family->bad_head, vidi_message());
        value_close(made);
        return SERVER_OK;
    }
    return loaded(ctx, name, made, parts->piece, 0);
}

static int load_next(server_context *ctx, server_string *name, value *value, const parts *parts, const family *family)
{
    uint64_t position = value->position;
    if (parts->words.len)
        return refuse(ctx, family->bad_chunk, "the first chunk comes with the iterator 1");
    if (value_take_piece(value, parts->piece) < 0)
        return refuse(ctx, family->bad_chunk, vidi_message());
    return loaded(ctx, name, value, parts->piece, position);
}

static int loadchunk(server_context *ctx, server_string **argv, int argc, const family *family)
{
    long long iterator;
    bool absent;
    parts parts;
    if (argc != 4)
        return server.WrongArity(ctx);
    if (!parse_signed(text_of(argv[2]), &iterator))
        return family->role == ROLE_BF ? reply_error(ctx, family->bad_iterator)
                                       : server.ReplyWithError(ctx, family->bad_iterator);
    if (iterator == ASK_FIRST && family->role == ROLE_CF)
        return server.ReplyWithError(ctx, family->bad_iterator);
    value *value = value_open(ctx, argv[1], FOR_WRITE, family->role, &absent);
    if (!value && !absent)
        return SERVER_OK;
    if (value && iterator == ASK_SECOND)
        return server.ReplyWithError(ctx, family->key_exists);
    if (absent && iterator != ASK_SECOND)
        return reply_not_found(ctx);
    if (!take_apart(text_of(argv[3]), &parts))
        return refuse(ctx, absent ? family->bad_head : family->bad_chunk, NOT_OURS);
    return absent ? load_first(ctx, argv[1], &parts, family) : load_next(ctx, argv[1], value, &parts, family);
}

/* ---- the commands ---- */

int bf_scandump(server_context *ctx, server_string **argv, int argc)
{
    return scandump(ctx, argv, argc, &bloom);
}

int bf_loadchunk(server_context *ctx, server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, &bloom);
}

int cf_scandump(server_context *ctx, server_string **argv, int argc)
{
    return scandump(ctx, argv, argc, &cuckoo);
}

int cf_loadchunk(server_context *ctx, server_string **argv, int argc)
{
    return loadchunk(ctx, argv, argc, &cuckoo);
}
