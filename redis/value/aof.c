/*
 * Rewriting the append-only file: the commands that make a value again, in pieces, so that no command is large.
 *
 *     VIDI.LOAD key 0 <piece> <words of the settings>
 *     VIDI.LOAD key 1 <piece>
 *     …
 *     VIDI.HOLD key …, for each claim (claim_io.c)
 *
 * It runs in a forked child, which only reads. (With aof-use-rdb-preamble, the server's default, rdb.c is used
 * instead.)
 */
#include "claim_io.h"
#include "redis/server/memory.h"
#include "type.h"
#include "value.h"

#define PIECE_BYTES ((size_t)4 << 20)

/* Writes a piece, which is larger than it should be if something in it cannot be divided. */
static int write_piece(const value *value, uint64_t *cursor, bytes *piece)
{
    int error = VIDI_ELIMIT;
    for (size_t most = PIECE_BYTES; error == VIDI_ELIMIT && most <= SIZE_MAX / 2; most *= 2) {
        piece->len = 0;
        error = value_piece(value, cursor, most, bytes_collect, piece);
    }
    return error;
}

void aof_rewrite(server_io *io, server_string *key, void *data)
{
    const value *value = data;
    server_string *strings[SETTINGS_WORDS];
    settings settings = value_settings(value);
    size_t count = settings_strings(&settings, strings);
    bytes piece = {.resize = memory_resize};
    uint64_t cursor = 0, position = 0;
    do {
        if (write_piece(value, &cursor, &piece) != VIDI_OK) {
            type_give_up(io);
            break;
        }
        server.EmitAOF(io, "VIDI.LOAD", "slbv", key, (long long)position, piece.ptr, piece.len, strings,
                       position == 0 ? count : (size_t)0);
        position++;
    } while (cursor != 0);
    bytes_free(&piece);
    settings_free_strings(strings, count);
    claims_rewrite(io, key, value);
}
