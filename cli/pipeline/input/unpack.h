/*
 * Unpacks what gzip, zstd, xz or bzip2 has packed. The format is recognised by the first bytes, not by the file's name.
 *
 * Several packed members in a row are one text, and zeros between or after them are skipped: tapes and some
 * tools fill up with zeros.
 */
#ifndef VIDI_CLI_PIPELINE_INPUT_UNPACK_H
#define VIDI_CLI_PIPELINE_INPUT_UNPACK_H

#include "cli.h"

typedef struct cli_codec cli_codec;

/*
 * The codec whose data begins with these n bytes; NULL: none. *undecided is set if there are too few bytes to tell, in
 * which case the codec is NULL.
 */
const cli_codec *cli_codec_of(const char *bytes, size_t n, bool *undecided);

typedef struct cli_unpacker {
    const cli_codec *codec; /* NULL: nothing is packed */
    const char *name;       /* of the file, for messages */
    void *state;            /* the library's */
    char *packed;           /* bytes at … end are still to be unpacked; room for CLI_PACKED_ROOM */
    size_t at, end;
    bool within;  /* a member has begun and not ended */
    bool pending; /* the last call filled all of its room, so the library may have more to give without more input */
} cli_unpacker;

enum { CLI_PACKED_ROOM = 256 * 1024 };

/* n bytes, at most CLI_PACKED_ROOM, are the first to unpack. CLI_OK, or CLI_ERROR with a message. */
int cli_unpacker_open(cli_unpacker *unpacker, const cli_codec *codec, const char *name, const char *bytes, size_t n);

/* At most `room` bytes of text; *got is 0 if more packed bytes are needed. CLI_OK, or CLI_ERROR with a message. */
int cli_unpack(cli_unpacker *unpacker, char *bytes, size_t room, size_t *got);

/* The packed bytes have ended. CLI_OK, or CLI_ERROR with a message if that is in the middle of a member. */
int cli_unpacker_end(const cli_unpacker *unpacker);

/* Also if it was never opened. */
void cli_unpacker_close(cli_unpacker *unpacker);

#endif
