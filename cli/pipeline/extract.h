/*
 * Takes the URL out of a line that has more in it: a field between delimiters, or the value of a key in a JSON object.
 * A line without such a field stands for itself, and is then no URL, which --invalid speaks of.
 */
#ifndef VIDI_CLI_PIPELINE_EXTRACT_H
#define VIDI_CLI_PIPELINE_EXTRACT_H

#include "cli.h"

typedef struct cli_extract {
    uint64_t field; /* 1…; 0: none */
    char delimiter; /* with any but a tab, fields may be quoted as in RFC 4180 */
    vidi_str key;   /* of a JSON object; ptr NULL: none */
} cli_extract;

/* Bytes of URLs that are not in the line as they are, because quotes or escapes had to be taken out. */
typedef struct cli_unquoted {
    char *bytes;
    size_t used, room;
} cli_unquoted;

/* What the options say, any of them NULL or 0. CLI_OK, or CLI_ERROR with a message. */
int cli_extract_init(cli_extract *extract, uint64_t field, const char *delimiter, const char *key);

static inline bool cli_extract_any(const cli_extract *extract)
{
    return extract->field > 0 || extract->key.ptr;
}

/*
 * The URLs of n lines, which point into the lines or into *unquoted; those of the call before are gone. CLI_OK, or
 * CLI_ERROR if memory runs out.
 */
int cli_extract_urls(const cli_extract *extract, const vidi_str *lines, size_t n, vidi_str *urls,
                     cli_unquoted *unquoted);

#endif
