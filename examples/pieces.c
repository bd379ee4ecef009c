/*
 * Moves a set in pieces, as through a channel that limits the size of a message, while more URLs are added to it.
 *
 *     cc pieces.c $(pkg-config --cflags --libs vidi) -o pieces && ./pieces < urls.txt
 */
#include <stdio.h>
#include <string.h>

#include <vidi/transfer.h>
#include <vidi/vidi.h>

#define PIECE_BYTES 16384

/* One message. */
typedef struct message {
    unsigned char bytes[PIECE_BYTES];
    size_t size;
} message;

static int append(void *context, const void *data, size_t size)
{
    message *to = context;
    memcpy(to->bytes + to->size, data, size); /* no piece is larger than was asked for */
    to->size += size;
    return 0;
}

/* Adds up to n lines of the input. */
static int add_lines(vidi_set *set, int n)
{
    char line[4096];
    int code = VIDI_OK;
    while (n-- && code >= 0 && fgets(line, sizeof line, stdin))
        code = vidi_add(set, (vidi_str){line, strcspn(line, "\n")});
    return code;
}

static int move(vidi_set **to, vidi_set *from)
{
    static message piece;
    uint64_t cursor = 0;
    do {
        piece.size = 0;
        int code = vidi_piece_write(from, &cursor, sizeof piece.bytes, append, &piece);
        if (code >= 0)
            code = vidi_piece_read(to, piece.bytes, piece.size, NULL, NULL); /* on the other side; usable at once */
        if (code >= 0)
            code = add_lines(from, 10); /* meanwhile, life goes on here */
        if (code < 0)
            return code;
    } while (cursor);
    return VIDI_OK;
}

int main(void)
{
    vidi_set *from = NULL, *to = NULL;
    vidi_stats stats = {.size = sizeof stats};
    int code = vidi_create(&from, NULL);
    if (code == VIDI_OK)
        code = add_lines(from, 10000);
    if (code >= 0)
        code = move(&to, from);
    if (code == VIDI_OK)
        code = vidi_stat(to, &stats);
    if (code < 0)
        fprintf(stderr, "pieces: %s\n", vidi_message());
    else
        printf("%llu URLs have arrived\n", (unsigned long long)stats.count);
    vidi_close(from);
    vidi_close(to);
    return code < 0;
}
