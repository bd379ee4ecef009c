/*
 * The one reader of files: bytes from files and standard input. What gzip, zstd, xz or bzip2 has packed comes out
 * unpacked (unpack.h), and the mark that some programs put before text in UTF-8 is skipped. A file that ends too early,
 * is damaged or is in UTF-16 is an error that names it.
 */
#ifndef VIDI_CLI_PIPELINE_INPUT_INPUT_H
#define VIDI_CLI_PIPELINE_INPUT_INPUT_H

#include "pipeline/input/unpack.h"

enum { CLI_PIPE_ROOM = 1 << 20 }; /* asked for in each pipe, for fewer switches between two programs */

typedef struct cli_input {
    const char *name; /* for messages */
    int fd;           /* -1: none is open */
    bool regular;     /* a regular file: reading it never has to wait */
    bool any_bytes;   /* set after opening: marks of UTF-8 and UTF-16 are bytes like others */
    bool looked;      /* the first bytes have been looked at */
    bool at_end;
    cli_unpacker unpacker;
    uint64_t taken; /* bytes of the file read so far, before unpacking */
} cli_input;

/*
 * Checks whether a file can be read, as far as one can tell without opening it. CLI_OK, or CLI_ERROR with a message.
 * *size is its length in bytes, 0 if that is unknown.
 */
int cli_input_check(const char *path, uint64_t *size);

/*
 * The same for all files, so that a wrong name does not cost half a result. No files: *files becomes standard input.
 * *size is the length of all together, 0 if that is unknown.
 */
int cli_input_check_all(cli_words *files, uint64_t *size);

/* "-" is standard input. The path must stay valid until the file is closed. */
int cli_input_open(cli_input *in, const char *path);
void cli_input_close(cli_input *in);

/*
 * Reads at most `room` bytes, and waits until there is at least one; room must be 16 or more. *got is 0 only at the
 * end. CLI_OK, or CLI_ERROR with a message that names the file.
 */
int cli_input_read(cli_input *in, char *bytes, size_t room, size_t *got);

/* From now on the bytes come as they are in the file: nothing is unpacked, and no mark is skipped. */
void cli_input_raw(cli_input *in);

/*
 * Reads a whole file into memory, unpacked; the caller frees *bytes, which a NUL follows. With `text`, a mark of UTF-8
 * is skipped and UTF-16 is an error, as in cli_input_read. A file of more than `most` bytes is an error. CLI_OK, or
 * CLI_ERROR with a message that names the file.
 */
int cli_input_read_whole(const char *path, size_t most, bool text, char **bytes, size_t *len);

/* Returns true if the next bytes, or the end, can be read without waiting. */
bool cli_input_ready(const cli_input *in);

#endif
