/*
 * Lines from files: see lines.h. Blocks are read into one buffer and split with memchr; the piece of a line at the end
 * of a block is moved to the front before the next one is read. The buffer doubles when such a piece fills half of it,
 * so lines may have any length and each byte is moved and looked at a constant number of times on average.
 */
#include "lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 256 * 1024 };

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

int cli_lines_init(cli_lines *in)
{
    *in = (cli_lines){.fd = -1, .size = BLOCK + 1};
    in->buffer = malloc(in->size);
    return in->buffer ? CLI_OK : cli_error("out of memory");
}

void cli_lines_free(cli_lines *in)
{
    free(in->buffer);
    in->buffer = NULL;
}

int cli_lines_check(const char *path)
{
    struct stat about;

    if (is_stdin(path))
        return CLI_OK;
    if (stat(path, &about) != 0 || access(path, R_OK) != 0)
        return cli_error("cannot read %s: %s", *path ? path : "''", strerror(errno));
    if (S_ISDIR(about.st_mode))
        return cli_error("cannot read %s: %s; name the files in it", path, strerror(EISDIR));
    return CLI_OK;
}

int cli_lines_open(cli_lines *in, const char *path)
{
    in->begin = in->scanned = in->end = 0;
    in->drained = true;
    in->at_end = false;
    in->name = is_stdin(path) ? "standard input" : path;
    in->fd = is_stdin(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (in->fd < 0)
        return cli_error("cannot read %s: %s", in->name, strerror(errno));
    (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return CLI_OK;
}

void cli_lines_close(cli_lines *in)
{
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    in->fd = -1;
}

/* Gives out the whole lines that the buffer holds. */
static size_t split(cli_lines *in, vidi_str *lines, size_t room)
{
    size_t n = 0;

    while (n < room) {
        const char *start = in->buffer + in->begin;
        const char *end = memchr(in->buffer + in->scanned, '\n', in->end - in->scanned);
        if (!end) {
            in->scanned = in->end;
            in->drained = true;
            break;
        }
        size_t length = (size_t)(end - start);
        lines[n].ptr = start;
        lines[n++].len = length - (length > 0 && end[-1] == '\r');
        in->begin = in->scanned = (size_t)(end + 1 - in->buffer);
    }
    return n;
}

/* Makes room behind what is left of the last block. */
static int make_room(cli_lines *in)
{
    size_t left = in->end - in->begin;

    if (left > 0 && in->begin > 0)
        memmove(in->buffer, in->buffer + in->begin, left);
    in->scanned -= in->begin;
    in->begin = 0;
    in->end = left;
    if (left > in->size / 2) {
        char *larger = in->size > SIZE_MAX / 2 ? NULL : realloc(in->buffer, in->size * 2);
        if (!larger)
            return cli_error("%s: out of memory: there is a line of more than %zu bytes", in->name, left);
        in->buffer = larger;
        in->size *= 2;
    }
    return CLI_OK;
}

/* Reads what there is, at least one byte unless the file has ended; after its end, closes the last line. */
static int refill(cli_lines *in)
{
    ssize_t got;

    if (make_room(in) != CLI_OK)
        return CLI_ERROR;
    while ((got = read(in->fd, in->buffer + in->end, in->size - 1 - in->end)) < 0) {
        struct pollfd wait = {.fd = in->fd, .events = POLLIN};
        if (errno == EAGAIN)
            (void)poll(&wait, 1, -1);
        else if (errno != EINTR)
            return cli_error("cannot read %s: %s", in->name, strerror(errno));
    }
    in->bytes += (uint64_t)got;
    in->end += (size_t)got;
    if (got == 0) {
        in->at_end = true;
        if (in->end > 0)
            in->buffer[in->end++] = '\n';
    }
    in->drained = false;
    return CLI_OK;
}

int cli_lines_next(cli_lines *in, vidi_str *lines, size_t room, size_t *n)
{
    while ((*n = split(in, lines, room)) == 0 && !in->at_end)
        if (refill(in) != CLI_OK)
            return CLI_ERROR;
    return CLI_OK;
}

bool cli_lines_waits(const cli_lines *in)
{
    struct pollfd input = {.fd = in->fd, .events = POLLIN};
    return in->drained && !in->at_end && poll(&input, 1, 0) == 0;
}
