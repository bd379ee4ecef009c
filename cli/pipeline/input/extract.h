/*
 * Takes the URL out of a line that has more in it: a field between delimiters, or the value of a key in a JSON object.
 * The options of the commands that do so are described here, too.
 *
 * What happens to a line without that field or key is decided as for lines that are not URLs: it is kept, and stands
 * for itself; it is dropped; or it ends the run with an error. If most lines lack it, a warning at the end says so.
 */
#ifndef VIDI_CLI_PIPELINE_INPUT_EXTRACT_H
#define VIDI_CLI_PIPELINE_INPUT_EXTRACT_H

#include "pipeline/input/lacking.h"

#define CLI_FIELD_SUMMARY "The URL is this field of the line, by number or name"
#define CLI_FIELD_DETAILS                                                                                              \
    "Fields are numbered from 1 and separated by tabs, or by the character given with --delimiter; a name needs "      \
    "--header. The whole line is printed. Lines without that field are handled as --invalid says."
#define CLI_DELIMITER_SUMMARY "Character that separates fields [a tab]"
#define CLI_DELIMITER_DETAILS "With any character but a tab, fields may be quoted as in RFC 4180: \"a,\"\"b\"\"\"."
#define CLI_HEADER_SUMMARY "The first line of each file names its fields"
#define CLI_HEADER_DETAILS                                                                                             \
    "It is not treated as a URL. When lines are printed, the header of the first file is printed once, at the top."
#define CLI_JSON_KEY_SUMMARY "The URL is the value of this key in a line of JSON"
#define CLI_JSON_KEY_DETAILS                                                                                           \
    "Each line is a JSON object. 'meta.url' is the key url of the object under meta. If a key occurs more than once, " \
    "the last one counts. Lines without that key are handled as --invalid says."

typedef struct cli_extract_options {
    const char *field, *delimiter, *json_key;
    bool header;
} cli_extract_options;

/* The rows of these options in a command's table. `type` is its struct, which has them as `extract`. */
#define CLI_EXTRACT_OPTIONS(type)                                                                                      \
    {"field", 'f', CLI_TEXT, offsetof(type, extract.field), "FIELD", CLI_FIELD_SUMMARY, CLI_FIELD_DETAILS, 0},         \
        {"delimiter",           'd', CLI_TEXT, offsetof(type, extract.delimiter), "C", CLI_DELIMITER_SUMMARY,          \
         CLI_DELIMITER_DETAILS, 0},                                                                                    \
        CLI_FLAG_OPTION(type, extract.header, "header", 0, CLI_HEADER_SUMMARY, CLI_HEADER_DETAILS),                    \
    {                                                                                                                  \
        "json-key", 0, CLI_TEXT, offsetof(type, extract.json_key), "NAME", CLI_JSON_KEY_SUMMARY, CLI_JSON_KEY_DETAILS, \
            0                                                                                                          \
    }

typedef struct cli_extract {
    cli_lookup lookup;
    bool active;      /* otherwise a line is a URL */
    bool header;      /* the first line of each file is one */
    uint32_t invalid; /* vidi_invalid_policy */
    cli_lacking lacking;
} cli_extract;

/* CLI_OK, or CLI_ERROR with a message. */
int cli_extract_init(cli_extract *extract, const cli_extract_options *options, uint32_t invalid);

/* Finds the field in the header of a file. CLI_OK, or CLI_ERROR with a message that names the file. */
int cli_extract_header(cli_extract *extract, const char *file, vidi_str line);

/*
 * Takes the URLs out of *n lines. They point into the lines or into *unquoted; those of the call before are gone. A
 * line without a URL is its own URL if such lines are kept, and a URL for which cli_extract_is_none holds if they are
 * dropped. If such a line is an error, it is the last one: *n is then reduced, and *lack is set. CLI_OK, or CLI_ERROR
 * with a message if memory runs out.
 */
int cli_extract_urls(cli_extract *extract, const vidi_str *lines, size_t *n, vidi_str *urls, cli_unquoted *unquoted,
                     cli_lack *lack);

/* Stands for no URL. */
bool cli_extract_is_none(vidi_str url);

/* The URL of one line, or the line itself, without remembering what it lacks. CLI_OK, or CLI_ERROR with a message. */
int cli_extract_one(const cli_lookup *lookup, vidi_str line, vidi_str *url, cli_unquoted *unquoted);

#endif
