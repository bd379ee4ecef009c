/*
 * Lines that have no URL where --field or --json-key looks for it: how many there are, why, and what was perhaps meant.
 */
#ifndef VIDI_CLI_PIPELINE_INPUT_LACKING_H
#define VIDI_CLI_PIPELINE_INPUT_LACKING_H

#include "pipeline/input/line_formats.h"

enum { CLI_KEYS_MET = 32, CLI_KEY_MET_ROOM = 80 };

/* What is looked for: a key if key.ptr is not NULL, otherwise a field. */
typedef struct cli_lookup {
    vidi_str key;
    uint64_t field;         /* its number, from 1 */
    const char *field_name; /* in the header; NULL: it was given by number */
    char delimiter;
} cli_lookup;

typedef struct cli_lacking {
    uint64_t lines; /* of all sorts */
    uint64_t count[CLI_LACKS];
    /* from the first lines without a URL */
    uint64_t looked;
    char keys[CLI_KEYS_MET][CLI_KEY_MET_ROOM];
    size_t keys_count;
    char delimiter;  /* that separates enough fields, where the one looked for does not; 0: none */
    uint64_t fields; /* in the last line that lacked the field */
} cli_lacking;

/* How many lines had no URL. */
uint64_t cli_lacking_sum(const cli_lacking *lacking);

/* Remembers what can be learnt from a line that lacks its URL. */
void cli_lacking_note(cli_lacking *lacking, const cli_lookup *lookup, vidi_str line, cli_lack lack, uint64_t fields);

/* Adds what was learnt from the next lines. */
void cli_lacking_join(cli_lacking *lacking, const cli_lacking *next);

/* Why the last line that was noted has no URL, as a text that the caller frees; NULL if memory ran out. */
char *cli_lacking_why(const cli_lacking *lacking, const cli_lookup *lookup, cli_lack lack);

/* Warns if most lines had no URL. */
void cli_lacking_warn(const cli_lacking *lacking, const cli_lookup *lookup);

/* The first of the usual delimiters that occurs in a line at least as often as given; 0: none. */
char cli_guess_delimiter(vidi_str line, uint64_t times);

/* A delimiter as it is typed on a command line: ',' or '\t'. */
const char *cli_delimiter_name(char text[8], char delimiter);

#endif
