/* Reads a list of tracking parameters: see canon_options.h. What is in it is the library's to judge. */
#include "pipeline/canon_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/input.h"

/* Twice what the library takes: 10,000 patterns of 200 bytes. So a wrong file is not read to its end. */
enum { MOST_BYTES = 4 << 20 };

static int take(FILE *file, const char *path, char *text)
{
    size_t len = fread(text, 1, MOST_BYTES + 1, file);

    if (ferror(file))
        return cli_error("cannot read %s: %s", path, strerror(errno));
    if (len > MOST_BYTES)
        return cli_error("%s is too large for a list of tracking parameters, which has at most %d MiB", path,
                         MOST_BYTES >> 20);
    if (memchr(text, 0, len))
        return cli_error("%s is not a text, and no list of tracking parameters: it has a byte 0", path);
    text[len] = 0;
    return CLI_OK;
}

int cli_tracking_read(const char *path, char **text)
{
    *text = NULL;
    if (!path)
        return CLI_OK;
    uint64_t size;
    if (cli_input_check(path, &size) != CLI_OK)
        return CLI_ERROR;
    FILE *file = fopen(path, "re");
    if (!file)
        return cli_error("cannot read %s: %s", path, strerror(errno));
    char *room = malloc(MOST_BYTES + 1);
    int status = room ? take(file, path, room) : cli_error("out of memory");
    fclose(file);
    if (status == CLI_OK)
        *text = room;
    else
        free(room);
    return status;
}
