/*
 * VIDI.DUMP and VIDI.LOAD: a set leaves and enters the server in pieces, as the library writes them. All pieces, one
 * after the other, are a file that the program reads and writes (docs/FORMAT.md).
 *
 * The server remembers nothing between two dumps. Of a set that is being loaded it knows the position that comes next,
 * so that a client which has lost its connection can ask where to go on.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "guard.h"
#include "redis/claims/claims.h"
#include "redis/server/memory.h"
#include "redis/value/reply.h"
#include "redis/value/value.h"

#define PIECE_BYTES ((size_t)16 << 20) /* the largest piece, unless the command says otherwise */
#define PIECE_LEAST 4096
#define PIECE_MOST ((size_t)512 << 20) /* the server's limit for an argument */

/* ---- VIDI.DUMP ---- */

static void reply_piece(server_context *ctx, uint64_t next, const bytes *piece)
{
    char cursor[24];
    snprintf(cursor, sizeof cursor, "%" PRIu64, next);
    server.ReplyWithArray(ctx, 2);
    server.ReplyWithCString(ctx, cursor);
    server.ReplyWithStringBuffer(ctx, piece->ptr, piece->len);
}

/* The most bytes that a piece may have: from [MOST bytes]. */
static bool parse_most(server_string **argv, int argc, uint64_t *most)
{
    *most = PIECE_BYTES;
    if (argc == 0)
        return true;
    return argc == 2 && word_is(text_of(argv[0]), "MOST") && parse_bytes(text_of(argv[1]), most) &&
           *most >= PIECE_LEAST && *most <= PIECE_MOST;
}

/* VIDI.DUMP key cursor [guard] [MOST bytes] */
static int dump(server_context *ctx, server_string **argv, int argc)
{
    uint64_t cursor, most;
    bytes piece = {.resize = memory_resize};
    if (!guard_pass(ctx, &argv, &argc, 3, GUARD_BEFORE_WORDS))
        return SERVER_OK;
    if (argc < 3)
        return server.WrongArity(ctx);
    if (!parse_count(text_of(argv[2]), &cursor))
        return reply_error(ctx, "the cursor must be 0, or what the last VIDI.DUMP answered");
    if (!parse_most(argv + 3, argc - 3, &most))
        return reply_error(ctx, "after the cursor, MOST and a number of bytes between 4096 and 512mb may follow");
    const value *value = value_needed(ctx, argv[1], FOR_READ);
    if (!value)
        return SERVER_OK;
    int code = value_piece(value, &cursor, (size_t)most, bytes_collect, &piece);
    if (code < 0)
        reply_failure(ctx, value, code);
    else
        reply_piece(ctx, cursor, &piece);
    bytes_free(&piece);
    return SERVER_OK;
}

/* ---- VIDI.LOAD ---- */

/* What comes with the first piece: settings, and REPLACE before, between or after them. */
static const char *parse_words(settings *settings, bool *replace, server_string **argv, int argc)
{
    server_string *words[SETTINGS_WORDS];
    int count = 0;
    *replace = false;
    for (int i = 0, end; i < argc; i = end) {
        bool found = word_is(text_of(argv[i]), "REPLACE");
        if (found && *replace)
            return "REPLACE is given twice";
        *replace |= found;
        end = i + (found ? 1 : settings_width(text_of(argv[i])));
        if (!found && end - i > SETTINGS_WORDS - count)
            return "too many words";
        for (int j = i; !found && j < end && j < argc; j++)
            words[count++] = argv[j];
    }
    settings_init(settings, ROLE_URLS);
    const char *wrong = settings_parse_arguments(settings, words, count);
    return settings->like ? "a set that is loaded brings its own key; LIKE is for VIDI.RESERVE" : wrong;
}

/* Whatever the server's configuration says, a large value is freed in the background. */
static void remove_key(server_context *ctx, server_string *name)
{
    server_key *key = server.OpenKey(ctx, name, SERVER_READ | SERVER_WRITE);
    server.UnlinkKey(key);
    server.CloseKey(key);
}

/* Replies whether more pieces follow, and tells replicas; `id` is NULL if the command says it, or need not. */
static int loaded(server_context *ctx, server_string **argv, int argc, value *value, const char *id, int more)
{
    if (id)
        server.Replicate(ctx, "VIDI.LOAD", "vcc", argv + 1, (size_t)argc - 1, "ID", id);
    else
        server.ReplicateVerbatim(ctx);
    value_changed(ctx, argv[1], value, "vidi.load");
    return server.ReplyWithLongLong(ctx, more);
}

static int load_first(server_context *ctx, server_string **argv, int argc)
{
    settings settings;
    bool replace, absent;
    const char *wrong = parse_words(&settings, &replace, argv + 4, argc - 4);
    if (wrong)
        return reply_error(ctx, wrong);
    const value *old = value_open(ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    if (!old && !absent)
        return SERVER_OK;
    if (old && !replace)
        return reply_error(ctx, "the key exists already; REPLACE would replace it");
    value *made = value_new(&settings);
    int code = value_take_piece(made, text_of(argv[3]));
    if (code < 0) {
        reply_failure(ctx, made, code);
        value_close(made);
        return SERVER_OK;
    }
    if (old)
        remove_key(ctx, argv[1]);
    value_put(ctx, argv[1], made);
    char id[TOKEN_DIGITS + 1];
    token_print(made->settings.id, id);
    return loaded(ctx, argv, argc, made, settings.id ? NULL : id, code);
}

/* Replies which piece is awaited instead of the one that came. */
static int refuse_position(server_context *ctx, const value *value)
{
    char sentence[100];
    if (!value->position)
        return reply_error(ctx, "the set is complete: no piece of it is missing");
    snprintf(sentence, sizeof sentence, "the piece at position %" PRIu64 " comes next", value->position);
    return reply_error(ctx, sentence);
}

static int load_next(server_context *ctx, server_string **argv, int argc, uint64_t position)
{
    bool absent;
    if (argc != 4)
        return reply_error(ctx, "options come with the first piece");
    value *value = value_open(ctx, argv[1], FOR_WRITE, ANY_ROLE, &absent);
    if (!value)
        return absent ? reply_error(ctx, "there is no such key: begin with position 0") : SERVER_OK;
    if (position != value->position)
        return refuse_position(ctx, value);
    int code = value_take_piece(value, text_of(argv[3]));
    return code < 0 ? reply_failure(ctx, value, code) : loaded(ctx, argv, argc, value, NULL, code);
}

/* VIDI.LOAD key position piece [word ...] */
static int load(server_context *ctx, server_string **argv, int argc)
{
    uint64_t position;
    if (argc < 4)
        return server.WrongArity(ctx);
    if (!parse_count(text_of(argv[2]), &position))
        return reply_error(ctx, "the position must be 0 for the first piece, then 1, 2, and so on");
    return position ? load_next(ctx, argv, argc, position) : load_first(ctx, argv, argc);
}

/* ---- the table ---- */

static const server_argument dump_arguments[] = {
    ARG_KEY, ARG("cursor", SERVER_ARG_STRING), ARG_GUARD, ARG_OPTION("bytes", "MOST", SERVER_ARG_INTEGER), ARG_END,
};
static const server_argument load_arguments[] = {
    ARG_KEY,
    ARG("position", SERVER_ARG_INTEGER),
    ARG("piece", SERVER_ARG_STRING),
    ARG_TOKEN("replace", "REPLACE"),
    ARG_OPTION("bytes", "MAXMEMORY", SERVER_ARG_INTEGER),
    ARG_END,
};

const command_entry transfer_commands[] = {
    {"vidi.dump", dump, "readonly", -3, keys_read, "Returns a piece of a set, and the cursor of the next one.",
     "O(N) where N is the size of the piece, 16 MiB at most", dump_arguments},
    {"vidi.load", load, "write deny-oom", -4, keys_insert,
     "Takes a piece of a set: 1 if more follow, 0 after the last.", "O(N) where N is the size of the piece",
     load_arguments},
    {.name = NULL},
};
