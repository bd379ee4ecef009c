/*
 * Bytes from files and standard input; what gzip or zstd has packed comes out unpacked, told by its first bytes and not
 * by its name. Several packed members or frames behind one another are one text. A file that ends too early or is
 * damaged is an error that names it.
 */
#ifndef VIDI_CLI_PIPELINE_INPUT_H
#define VIDI_CLI_PIPELINE_INPUT_H

#include "cli.h"

typedef struct cli_input {
    const char *name; /* for messages */
    int fd;           /* -1: none is open */
    bool regular;     /* a regular file always has more to give, or has ended */
    bool looked;      /* at the first bytes */
    bool at_end;
    int form; /* how it is packed */
    void *unpacker;
    char *packed; /* bytes packed_at … packed_end of it are still to be unpacked */
    size_t packed_at, packed_end;
    bool within;    /* a member or frame */
    uint64_t taken; /* bytes of the file that were read, as it lies there */
} cli_input;

/*
 * Can it be read, as far as one can tell without opening it? CLI_OK, or CLI_ERROR with a message. *size is how many
 * bytes it has, 0 if nobody can tell.
 */
int cli_input_check(const char *path, uint64_t *size);

/* "-" is standard input. The path must stay until the file is closed. */
int cli_input_open(cli_input *in, const char *path);
void cli_input_close(cli_input *in);

/*
 * At most room bytes, which must be 16 or more; *got is 0 at the end only. Waits until there is something. CLI_OK, or
 * CLI_ERROR with a message that names the file.
 */
int cli_input_read(cli_input *in, char *bytes, size_t room, size_t *got);

/* Is there something to read, or the end, without waiting? */
bool cli_input_ready(const cli_input *in);

#endif
