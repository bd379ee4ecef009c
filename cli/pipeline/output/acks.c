/*
 * Acknowledgements: see acks.h.
 */
#include "pipeline/output/acks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIGITS "0123456789"

/* ---- opening ---- */

static int open_number(cli_acks *acks, const char *word)
{
    errno = 0;
    long fd = strtol(word, NULL, 10);
    int flags = errno == 0 && fd <= INT32_MAX ? fcntl((int)fd, F_GETFL) : -1;

    if (flags < 0)
        return cli_error(
            "--ack %s: file descriptor %s is not open; give it a pipe, as in '%s< FIFO', or write ./%s for "
            "a file of that name",
            word, word, word, word);
    if ((flags & O_ACCMODE) == O_WRONLY)
        return cli_error("--ack %s: file descriptor %s is open for writing only", word, word);
    acks->fd = (int)fd;
    return CLI_OK;
}

static int open_path(cli_acks *acks, const char *path)
{
    acks->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (acks->fd < 0)
        return cli_error("cannot read %s: %s", *path ? path : "''", strerror(errno));
    acks->ours = true;
    return CLI_OK;
}

int cli_acks_open(cli_acks *acks, const char *word)
{
    struct stat about;
    bool number = *word && word[strspn(word, DIGITS)] == 0;

    *acks = (cli_acks){.fd = -1};
    if ((number ? open_number(acks, word) : open_path(acks, word)) != CLI_OK)
        return CLI_ERROR;
    if (fstat(acks->fd, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
        return cli_error("--ack %s: acknowledgements come through a pipe, a FIFO or a socket, not from a %s", word,
                         S_ISDIR(about.st_mode) ? "folder" : "file");
    return CLI_OK;
}

void cli_acks_close(cli_acks *acks)
{
    if (acks->ours)
        close(acks->fd);
    *acks = (cli_acks){.fd = -1};
}

/* ---- reading ---- */

/* Takes the number from a complete line. */
static int take_line(cli_acks *acks)
{
    acks->line[acks->length] = 0;
    bool number = acks->length > 0 && acks->line[strspn(acks->line, DIGITS)] == 0;

    errno = 0;
    unsigned long long count = number ? strtoull(acks->line, NULL, 10) : 0;
    if (!number || errno != 0)
        return cli_error("--ack: '%s' is not a number of lines", acks->line);
    if (count < acks->count)
        return cli_error("--ack: %llu lines were acknowledged after %llu; the number never decreases", count,
                         (unsigned long long)acks->count);
    acks->count = count;
    acks->length = 0;
    return CLI_OK;
}

/* Takes bytes up to the end of a line. */
static int take_bytes(cli_acks *acks, bool *got)
{
    *got = false;
    while (acks->at < acks->have) {
        char byte = acks->bytes[acks->at++];
        *got = byte == '\n';
        if (*got)
            return take_line(acks);
        if (byte == 0 || acks->length + 1 == CLI_ACK_ROOM)
            return cli_error("--ack: expected lines with one number each");
        acks->line[acks->length++] = byte;
    }
    return CLI_OK;
}

/*
 * Returns true if there is something to read. On a FIFO that no process has opened for writing yet, read(2) alone would
 * say "end".
 */
static bool is_ready(const cli_acks *acks)
{
    struct pollfd input = {.fd = acks->fd, .events = POLLIN};
    return poll(&input, 1, 0) > 0;
}

int cli_acks_next(cli_acks *acks, bool *got)
{
    int status = take_bytes(acks, got);

    while (status == CLI_OK && !*got && !acks->ended && is_ready(acks)) {
        ssize_t n = read(acks->fd, acks->bytes, sizeof acks->bytes);
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            return cli_error("cannot read the acknowledgements: %s", strerror(errno));
        acks->ended = n == 0;
        acks->at = 0;
        acks->have = (size_t)n;
        status = take_bytes(acks, got);
    }
    return status;
}
