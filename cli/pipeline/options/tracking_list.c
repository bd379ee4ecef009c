/* Reads a list of tracking parameters: see canon_options.h. The library judges what is in it. */
#include "pipeline/options/canon_options.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/input/input.h"

/* Twice what the library takes, which is 10,000 patterns of 200 bytes. A wrong file is not read to its end. */
enum { MOST_BYTES = 4 << 20, ROOM = MOST_BYTES + 64 };

static int read_all(cli_input *in, const char *path, char *text)
{
    size_t length = 0, got = 1;

    while (got > 0 && length <= MOST_BYTES) {
        if (cli_input_read(in, text + length, ROOM - length, &got) != CLI_OK)
            return CLI_ERROR;
        length += got;
    }
    if (length > MOST_BYTES)
        return cli_error("%s is too large for a list of tracking parameters, which has at most %d MiB", path,
                         MOST_BYTES >> 20);
    if (memchr(text, 0, length))
        return cli_error("%s is not a list of tracking parameters: it contains a NUL byte, so it is not text", path);
    text[length] = 0;
    return CLI_OK;
}

int cli_tracking_read(const char *path, char **text)
{
    cli_input in;
    uint64_t size;

    *text = NULL;
    if (!path)
        return CLI_OK;
    if (cli_input_check(path, &size) != CLI_OK || cli_input_open(&in, path) != CLI_OK)
        return CLI_ERROR;
    char *room = malloc(ROOM + 1);
    int status = room ? read_all(&in, path, room) : cli_error("out of memory");
    cli_input_close(&in);
    if (status == CLI_OK)
        *text = room;
    else
        free(room);
    return status;
}
