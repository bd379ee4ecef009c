/*
 * The two formats of lines that a URL can be taken out of: fields between delimiters (line_fields.c) and objects of
 * JSON (line_json.c).
 */
#ifndef VIDI_CLI_PIPELINE_INPUT_LINE_FORMATS_H
#define VIDI_CLI_PIPELINE_INPUT_LINE_FORMATS_H

#include "cli.h"

/* Why a line has no URL. */
typedef enum cli_lack {
    CLI_LACKS_NOTHING, /* it has one */
    CLI_LACKS_FIELD,   /* it has fewer fields */
    CLI_LACKS_OBJECT,  /* it is not a JSON object, or not a whole one */
    CLI_LACKS_KEY,     /* no key of that name */
    CLI_LACKS_STRING,  /* the value of the key is not a string */
    CLI_LACKS          /* how many there are */
} cli_lack;

/* Room for URLs that are not in the line as they are, because quotes or escapes had to be taken out. */
typedef struct cli_unquoted {
    char *bytes;
    size_t used, room;
} cli_unquoted;

/* A walk over the fields of a line. With any delimiter but a tab, fields may be quoted as in RFC 4180. */
typedef struct cli_fields {
    char delimiter;
    const char *at, *end; /* the rest of the line; at is NULL after the last field */
    vidi_str raw;         /* the current field, without quotes around it */
    bool doubled;         /* with two quotes for each one inside */
} cli_fields;

static inline cli_fields cli_fields_of(vidi_str line, char delimiter)
{
    return (cli_fields){.delimiter = delimiter, .at = line.ptr, .end = line.ptr + line.len};
}

/* Goes to the next field; false if there is none. An empty line has one field, which is empty. */
bool cli_fields_next(cli_fields *fields);

/* The text of the current field. */
vidi_str cli_fields_text(const cli_fields *fields, cli_unquoted *unquoted);

enum { CLI_JSON_DOTS = 30 }; /* the most dots in a key */

/*
 * The value of a key in a JSON object. A dot in the key leads into an object inside the object: "meta.url" finds
 * {"meta":{"url":"…"}}, and also {"meta.url":"…"}. If a key occurs several times, the last one counts.
 */
cli_lack cli_line_json(vidi_str line, vidi_str key, vidi_str *value, cli_unquoted *unquoted);

/* Calls found() for every key of the object whose value is a string, with dots between the keys that lead to it. */
void cli_line_json_keys(vidi_str line, void (*found)(void *context, vidi_str key), void *context);

#endif
