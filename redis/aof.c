/*
 * Rewriting the append-only file: the commands that make a value again, in pieces, so that no command is large.
 *
 *     VIDI.LOAD key 0 <piece> <words of the settings>
 *     VIDI.LOAD key 1 <piece>
 *     …
 *     VIDI.HOLD key …, for each claim (claim_io.c)
 *
 * It runs in a forked child, which only reads. (With aof-use-rdb-preamble, the server's default, rdb.c is used instead.)
 */
#include <string.h>

#include "claim_io.h"
#include "type.h"
#include "value.h"

#define PIECE_BYTES ((size_t)4 << 20)

/* A piece that is collected in memory. */
typedef struct piece {
    char *bytes;
    size_t room, used;
} piece;

static int gather(void *context, const void *data, size_t size)
{
    piece *piece = context;
    if (size > piece->room - piece->used)
        return -1;
    memcpy(piece->bytes + piece->used, data, size);
    piece->used += size;
    return 0;
}

/* Writes a piece, with more room if something in it cannot be divided. */
static int write_piece(const value *value, uint64_t *cursor, piece *piece)
{
    int error;
    for (;;) {
        piece->used = 0;
        error = value_piece(value, cursor, piece->room, gather, piece);
        if (error != VIDI_ELIMIT || piece->room > SIZE_MAX / 2)
            return error;
        server.Free(piece->bytes);
        piece->room *= 2;
        piece->bytes = server.Alloc(piece->room);
    }
}

void aof_rewrite(server_io *io, server_string *key, void *data)
{
    const value *value = data;
    server_string *strings[SETTINGS_WORDS];
    settings settings = value_settings(value);
    size_t count = settings_strings(&settings, strings);
    piece piece = {.bytes = server.Alloc(PIECE_BYTES), .room = PIECE_BYTES};
    uint64_t cursor = 0, position = 0;
    do {
        if (write_piece(value, &cursor, &piece) != VIDI_OK) {
            type_give_up(io);
            break;
        }
        server.EmitAOF(io, "VIDI.LOAD", "slbv", key, (long long)position, piece.bytes, piece.used, strings,
                       position == 0 ? count : (size_t)0);
        position++;
    } while (cursor != 0);
    server.Free(piece.bytes);
    strings_free(strings, count);
    claims_rewrite(io, key, value);
}
