/*
 * The one reader of input: files into lines, in batches, without copying.
 *
 * A line is what stands before a '\n', or before the end of the file. If it ends in '\r', that is not part of the line.
 * In memory every line is followed by its end, "\n" or "\r\n" as it was read; a last line without one is given a "\n".
 * The lines of a batch follow one another without a gap, so that a run of them can be written out as one piece.
 */
#ifndef VIDI_CLI_LINES_H
#define VIDI_CLI_LINES_H

#include "cli.h"

typedef struct cli_lines {
    const char *name; /* for messages */
    int fd;
    char *buffer;
    size_t size;    /* of the buffer; one byte of it is kept for the last line's '\n' */
    size_t begin;   /* bytes begin … end of the buffer are read and not yet given out; */
    size_t scanned; /* before this there is no '\n' among them */
    size_t end;
    bool drained; /* no whole line is left in the buffer */
    bool at_end;
    uint64_t bytes; /* read so far, of all files */
} cli_lines;

/* CLI_OK or CLI_ERROR. One cli_lines serves any number of files, one after the other. */
int cli_lines_init(cli_lines *in);
void cli_lines_free(cli_lines *in);

/* Can it be read, as far as one can tell without opening it? CLI_OK, or CLI_ERROR with a message. */
int cli_lines_check(const char *path);

/* "-" is standard input. The path must stay until the file is closed. */
int cli_lines_open(cli_lines *in, const char *path);
void cli_lines_close(cli_lines *in);

/*
 * The next lines, at most room of them; *n is 0 at the end of the file. They are good until the next call. Returns as
 * soon as there is a line to give: it waits for input only when it has none. CLI_OK, or CLI_ERROR with a message that
 * names the file.
 */
int cli_lines_next(cli_lines *in, vidi_str *lines, size_t room, size_t *n);

/* Would cli_lines_next have to wait for input? Then now is the time to write out what is buffered. */
bool cli_lines_waits(const cli_lines *in);

/* One past the end of a line in memory, its "\n" or "\r\n" included. */
static inline const char *cli_line_end(vidi_str line)
{
    const char *end = line.ptr + line.len;
    return end + (*end == '\r') + 1;
}

#endif
