/*
 * The one reader of lines: reads files into blocks of whole lines, which are split in place.
 *
 * A line ends before a '\n' or at the end of the file; a '\r' before that is not part of the line. In memory every line
 * is followed by its end, "\n" or "\r\n", as it was read; a last line without an end gets a "\n". The lines of a block
 * follow each other without gaps, so a run of them can be written as one piece. If lines end in NUL, '\r' is a byte
 * like any other.
 */
#ifndef VIDI_CLI_PIPELINE_INPUT_LINES_H
#define VIDI_CLI_PIPELINE_INPUT_LINES_H

#include <stdatomic.h>

#include "pipeline/input/input.h"

enum {
    CLI_BLOCK_BYTES = 1 << 20, /* more only for a longer line */
    CLI_BLOCK_LINES = 1 << 15,
    CLI_BLOCK_SLACK = 256 /* readable bytes after the last line, with any contents */
};

typedef struct cli_block {
    char *bytes;
    size_t room, used;
    vidi_str *lines;  /* once they are split */
    bool counted;     /* the lines are counted, but not split: cli_block_split does so */
    char end;         /* of a line */
    size_t most;      /* lines that it may hold */
    size_t count;     /* 0: the input has ended */
    const char *name; /* of the file */
    uint64_t first;   /* number of the first line in the file, from 1 */
    bool full;        /* more input was ready */
    bool waits;       /* no more input is ready, so output should be flushed now */
} cli_block;

/* The longest line that is read. */
typedef struct cli_line_limit {
    uint64_t bytes;   /* 0: any length */
    bool from_memory; /* it follows from --memory; otherwise the user gave it */
} cli_line_limit;

#define CLI_MAX_LINE_SUMMARY "Maximum length of a line; a longer one is an error"

/* What --max-line (0: not given) and --memory (0: not given) come to. */
cli_line_limit cli_line_limit_of(uint64_t max_line, uint64_t memory);

typedef struct cli_reader {
    cli_words files; /* not yet opened */
    char end;        /* of a line: '\n' or 0 */
    cli_input in;
    uint64_t line; /* lines of the open file returned so far */
    char *rest;    /* read but not yet returned; its first rest_scanned bytes contain no end of a line */
    size_t rest_used, rest_room, rest_scanned;
    _Atomic uint64_t bytes; /* of text read from all files */
    _Atomic uint64_t taken; /* of the files themselves, perhaps packed, read so far */
    uint64_t size;          /* of all files together; 0: unknown */
    cli_line_limit limit;   /* set after cli_reader_init */
    size_t block_lines;     /* the same: lines in a block at most, a multiple of 64 up to CLI_BLOCK_LINES */
    bool splits_later;      /* the caller splits each block, in any thread */
    int wake;               /* a file descriptor that ends all waiting when it becomes readable; -1: none */
    _Atomic bool stop;      /* end here as if the input had ended */
    int lull_ms;            /* how long no input comes before lull is called */
    void (*lull)(void *context);
    /* If set, asked after each lull: true ends the waiting, as if no input were ready, and sets `paused`. */
    bool (*pause)(void *context);
    bool paused; /* the block is empty, but the input has not ended */
    /* If set, gets the first line of each file, which is in no block. CLI_OK, or an exit status that ends it all. */
    int (*header)(void *context, const char *file, vidi_str line);
    void *context;
} cli_reader;

/* CLI_OK, or CLI_ERROR with a message. */
int cli_block_init(cli_block *block);
void cli_block_free(cli_block *block);

/* Checks every file first. No files: standard input. */
int cli_reader_init(cli_reader *reader, cli_words files, char end);
void cli_reader_free(cli_reader *reader);

/*
 * Reads the next lines, all of one file; block->count is 0 at the end of the last file, or if it was paused. Waits for input only while it
 * has no line to return. CLI_OK, or CLI_ERROR with a message that names the file; the block still has the whole lines
 * that were read before the error.
 */
int cli_reader_fill(cli_reader *reader, cli_block *block);

/* For readers that split later: splits the block into lines. */
void cli_block_split(cli_block *block);

/*
 * Reads all lines of the files, block by block, also those before an error. `take` returns CLI_OK, or anything else to
 * end it. Returns what `take` returned last, or CLI_ERROR.
 */
int cli_lines_each(cli_words files, int (*take)(void *context, const cli_block *block), void *context);

/* The byte after a line in memory and its "\n" or "\r\n". */
static inline const char *cli_line_end(vidi_str line)
{
    const char *end = line.ptr + line.len;
    return end + (*end == '\r') + 1;
}

#endif
