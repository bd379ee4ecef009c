/* Writes VIDI.LOAD commands: see redis_load.h. */
#include "pipeline/output/redis_load.h"

#include <stdio.h>
#include <string.h>

#include "vidi/transfer.h"

#define PIECE_MOST ((size_t)16 << 20) /* bytes of a piece at most */

/* A command that is being written. */
typedef struct command {
    cli_out *out;
    const char *key;
    uint64_t position;
    bool begun;
} command;

static void put_word(cli_out *out, const char *word)
{
    cli_out_format(out, "$%zu\r\n", strlen(word));
    cli_out_bytes(out, word, strlen(word));
    cli_out_bytes(out, "\r\n", 2);
}

/* The protocol wants the length of the piece before its bytes. The piece says it at its beginning. */
static int begin(command *self, const void *data, size_t size)
{
    char position[24];
    uint64_t length;
    int error = vidi_piece_size(data, size, &length);

    if (error < 0)
        return error;
    snprintf(position, sizeof position, "%llu", (unsigned long long)self->position);
    cli_out_format(self->out, "*4\r\n");
    put_word(self->out, "VIDI.LOAD");
    put_word(self->out, self->key);
    put_word(self->out, position);
    cli_out_format(self->out, "$%llu\r\n", (unsigned long long)length);
    self->begun = true;
    return VIDI_OK;
}

static int put_some(void *context, const void *data, size_t size)
{
    command *self = context;
    int error = self->begun ? VIDI_OK : begin(self, data, size);

    if (error < 0)
        return error;
    cli_out_bytes(self->out, data, size);
    return self->out->error;
}

int cli_redis_load(const vidi_set *set, const char *key, cli_out *out)
{
    uint64_t cursor = 0;
    command next = {.out = out, .key = key};

    do {
        int error = vidi_piece_write(set, &cursor, PIECE_MOST, put_some, &next);
        if (error < 0)
            return error;
        cli_out_bytes(out, "\r\n", 2);
        next.position++;
        next.begun = false;
    } while (cursor);
    return VIDI_OK;
}
