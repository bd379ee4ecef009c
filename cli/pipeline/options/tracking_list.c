/* Reads a list of tracking parameters: see canon_options.h. The library judges what is in it. */
#include "pipeline/options/canon_options.h"

#include <stdlib.h>
#include <string.h>

#include "pipeline/input/input.h"

/* Twice what the library takes, which is 10,000 patterns of 200 bytes. A wrong file is not read to its end. */
enum { MOST_BYTES = 4 << 20 };

int cli_tracking_read(const char *path, char **text)
{
    uint64_t size;
    size_t length;

    *text = NULL;
    if (!path)
        return CLI_OK;
    CLI_TRY(cli_input_check(path, &size));
    CLI_TRY(cli_input_read_whole(path, MOST_BYTES, true, text, &length));
    if (!memchr(*text, 0, length))
        return CLI_OK;
    free(*text);
    *text = NULL;
    return cli_error("%s is not a list of tracking parameters: it contains a NUL byte, so it is not text", path);
}
