/*
 * The one parser of command lines. A command describes its options in a table; each option fills one field of the
 * command's own struct. The help texts and the suggestions for misspelled names come from the same table.
 *
 * It accepts --name VALUE, --name=VALUE, -x, -xVALUE, -x VALUE and several letters at once. Operands may stand between
 * options; "--" ends the options; "-" is an operand. Every command has -h and --help.
 */
#ifndef VIDI_CLI_UI_OPTIONS_H
#define VIDI_CLI_UI_OPTIONS_H

#include "cli.h"

enum cli_option_type {
    CLI_FLAG,       /* bool */
    CLI_TEXT,       /* const char *, points into the command line */
    CLI_PAIRS,      /* char *: every name=value given, with commas between; the command frees it */
    CLI_TEXTS,      /* cli_words: every one that was given; the command frees the list */
    CLI_COUNT,      /* uint64_t, at least 1: 1000000, 1e6 or 1M (numbers.h) */
    CLI_WHOLE,      /* uint64_t, 0 or more */
    CLI_BYTES,      /* uint64_t, at least 1: 65536, 64K, 2.5GiB or 2GB */
    CLI_REAL,       /* double, more than 0 */
    CLI_AMOUNT,     /* double, 0 or more */
    CLI_PROBABILITY /* double, more than 0 and less than 1 */
};

typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* 0: no short form */
    enum cli_option_type type;
    size_t offset;       /* of the field in the command's struct */
    const char *value;   /* what the value is called in the help; NULL for flags */
    const char *summary; /* one line; NULL: another letter for the option before, which the help does not list */
    const char *details; /* further sentences for the full help; may be NULL */
    uint64_t most;       /* CLI_COUNT, CLI_WHOLE: largest value; 0: what fits */
} cli_option;

/* A flag's row. */
#define CLI_FLAG_OPTION(type, member, name, letter, summary, details)                                                  \
    {                                                                                                                  \
        name, letter, CLI_FLAG, offsetof(type, member), NULL, summary, details, 0                                      \
    }

/* Rows that several commands have. `type` is the command's struct. */
#define CLI_NULL_OPTIONS(type)                                                                                         \
    CLI_FLAG_OPTION(type, null, "null", 'z', "Lines end in NUL, not in a newline; also -0", NULL),                     \
        CLI_FLAG_OPTION(type, null, "null", '0', NULL, NULL)
#define CLI_STATS_OPTIONS(type, details)                                                                               \
    CLI_FLAG_OPTION(type, stats, "stats", 0, "Print statistics on standard error at the end", details),                \
        CLI_FLAG_OPTION(type, json, "json", 0, "Print the statistics as one line of JSON", "Implies --stats.")

/* The two entries that every table ends with. */
#define CLI_OPTIONS_END                                                                                                \
    {"help", 'h', CLI_FLAG, 0, NULL, "Print help: -h a summary, --help the full text", NULL, 0},                       \
    {                                                                                                                  \
        NULL, 0, CLI_FLAG, 0, NULL, NULL, NULL, 0                                                                      \
    }

/*
 * Fills in *values, which the caller has set to its defaults, and leaves the operands in *words. CLI_GO_ON, or the exit
 * status: after an error, or because help was asked for and has been printed. The caller frees fields of
 * CLI_PAIRS and CLI_TEXTS in every case.
 */
int cli_options_parse(const cli_command *command, cli_words *words, void *values);

/* Stores the value of an option (NULL for a flag) in its field of *values. CLI_GO_ON or an exit status. */
int cli_option_set(const cli_option *option, const char *text, void *values);

/* Returns true if the option was given. `defaults` is what *values was before the parsing. */
bool cli_option_is_given(const cli_option *option, const void *values, const void *defaults);

/*
 * The place of a word in a list that ends with NULL; NULL stands for the first. CLI_OK, or CLI_ERROR with a message:
 * "--invalid is 'keep', 'drop' or 'fail', not 'x'".
 */
int cli_option_choose(const char *option, const char *word, const char *const *words, uint32_t *place);

/* Of the names that next() gives until NULL, the one nearest to `word` if it is near enough to be meant; or NULL. */
const char *cli_nearest(const char *word, const char *(*next)(const void *context, size_t index), const void *context);

#endif
