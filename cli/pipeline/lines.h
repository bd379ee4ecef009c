/*
 * The one reader of lines: files into blocks of whole lines, split where they lie.
 *
 * A line is what stands before a '\n', or before the end of the file. If it ends in '\r', that is not part of the line.
 * In memory every line is followed by its end, "\n" or "\r\n" as it was read; a last line without one is given a "\n".
 * The lines of a block follow one another without a gap, so that a run of them can be written out as one piece. With
 * NUL as the end of lines, '\r' is a byte like any other.
 */
#ifndef VIDI_CLI_PIPELINE_LINES_H
#define VIDI_CLI_PIPELINE_LINES_H

#include <stdatomic.h>

#include "pipeline/input.h"

enum {
    CLI_BLOCK_BYTES = 1 << 20, /* more only for a line that is longer */
    CLI_BLOCK_LINES = 1 << 15,
    CLI_BLOCK_SLACK = 256 /* bytes behind the last line that may be read, though they mean nothing */
};

typedef struct cli_block {
    char *bytes;
    size_t room, used;
    vidi_str *lines;
    size_t count;     /* 0: the input has ended */
    const char *name; /* of the file */
    uint64_t first;   /* number of the first line in it, from 1 */
    bool full;        /* there was more to be had at once */
    bool waits;       /* there is nothing more for the moment: now is the time to write out what is buffered */
} cli_block;

typedef struct cli_reader {
    cli_words files; /* those not yet opened */
    char end;        /* of a line: '\n' or 0 */
    cli_input in;
    uint64_t line; /* lines of the open file given out */
    char *rest;    /* what was read and not given out: its first rest_scanned bytes have no end of a line */
    size_t rest_used, rest_room, rest_scanned;
    _Atomic uint64_t bytes; /* of text, from all files */
    _Atomic uint64_t taken; /* of the files as they lie there, */
    uint64_t size;          /* of so many; 0: nobody can tell */
    int wake;               /* a file descriptor that ends all waiting when it can be read; -1: none */
    _Atomic bool stop;      /* as if the input ended here */
    int lull_ms;            /* with lull: call it when nothing has come for so long, each time */
    void (*lull)(void *context);
    /* If set, the first line of each file goes here and not into a block. CLI_OK, or an exit status that ends it all. */
    int (*header)(void *context, const char *file, vidi_str line);
    void *context;
} cli_reader;

/* CLI_OK or CLI_ERROR, with a message. */
int cli_block_init(cli_block *block);
void cli_block_free(cli_block *block);

/* Looks at every file first: a name that is wrong must not cost half a result. None: standard input. */
int cli_reader_init(cli_reader *reader, cli_words files, char end);
void cli_reader_free(cli_reader *reader);

/*
 * The next lines, all of one file; block->count is 0 at the end of the last one. Returns as soon as there is a line to
 * give and nothing more to be had at once: it waits for input only when it has none. CLI_OK, or CLI_ERROR with a
 * message that names the file; whole lines that were read before the error are in the block all the same.
 */
int cli_reader_fill(cli_reader *reader, cli_block *block);

/* One past the end of a line in memory, its "\n" or "\r\n" included. */
static inline const char *cli_line_end(vidi_str line)
{
    const char *end = line.ptr + line.len;
    return end + (*end == '\r') + 1;
}

#endif
