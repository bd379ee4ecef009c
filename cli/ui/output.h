/*
 * All output of the program: a buffered writer, numbers for people, JSON, and tables.
 */
#ifndef VIDI_CLI_UI_OUTPUT_H
#define VIDI_CLI_UI_OUTPUT_H

#include "cli.h"
#include "common/json.h"

/*
 * A buffered writer that makes few calls of write(2). After the first failure everything is dropped, and cli_out_flush
 * reports the failure.
 */
typedef struct cli_out {
    int fd;
    int error; /* errno of the first failure; 0: none */
    char *buffer;
    size_t used;
    uint64_t written; /* bytes that write(2) has taken; what comes next will begin at written + used */
    const char *name; /* for messages; NULL: a standard stream */
    /* If set, it is called instead of write(2). Returns 0 or errno, and updates `written`. */
    int (*send)(struct cli_out *out, const char *bytes, size_t length);
    void *context; /* for `send` */
} cli_out;

void cli_out_init(cli_out *out, int fd);
void cli_out_bytes(cli_out *out, const char *bytes, size_t length);
void cli_out_text(cli_out *out, const char *text);
void cli_out_format(cli_out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes out what is buffered. CLI_OK, CLI_ERROR or CLI_PIPE; prints no message. */
int cli_out_flush(cli_out *out);

/* Flushes, frees the buffer, and reports a failure unless it is a reader that went away. Returns the exit status. */
int cli_out_close(cli_out *out);

/* Closes `out` at the end of a command that has come to `status`. Returns the exit status: of two failures the first. */
int cli_out_end(cli_out *out, int status);

/* Prints a command's result on standard output. Returns the exit status. */
int cli_print_result(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Makes text that somebody else wrote harmless to a terminal: control characters, characters that change the direction
 * of the text, line separators and bytes that are not UTF-8 become '?'. Messages and cells of tables are always
 * cleaned.
 */
void cli_clean(char *text);

/* Numbers as people read them, in a buffer of the caller's: "1,234,567"; "0.00125", "1e-9"; "1.50 GiB". */
typedef struct cli_number {
    char text[40];
} cli_number;

const char *cli_human_count(cli_number *number, uint64_t value);
const char *cli_human_real(cli_number *number, double value); /* three digits; from 1000 on a whole number */
const char *cli_human_bytes(cli_number *number, uint64_t value);
const char *cli_human_short(cli_number *number, double value);  /* 12345678 as "12.3M" */
const char *cli_human_time(cli_number *number, double seconds); /* "4.2 s", "42 s", "42 min", "4.2 h" */

/* The fewest digits that read back as the same number. */
const char *cli_shortest_real(cli_number *number, double value);

/*
 * How to read an expectation of the library: the sign before it in a table ("", "<=", "~"), and in words ("exact",
 * "at most", "about").
 */
const char *cli_meaning_sign(uint32_t fp_meaning);
const char *cli_meaning_name(uint32_t fp_meaning);

/*
 * Pages lost, the way every message and table prints them: "0", "less than 0.000001", "0.0125", "1,708", with the sign
 * of the meaning in front. Pass VIDI_FP_EXACT where no sign is wanted.
 */
const char *cli_human_lost(cli_number *number, double lost, uint32_t fp_meaning);

/* The same with the meaning in words before it, such as "at most 1,708"; without a word if that is "exact". */
const char *cli_human_expected(cli_number *number, double lost, const char *meaning);

/* A writer of JSON (common/json.h) into the output. */
json_writer cli_json_to(cli_out *out);
/* An object as a line of its own: begins it, and ends it. */
json_writer cli_json_begin(cli_out *out);
void cli_json_end(json_writer *json);
void cli_json_text(json_writer *json, const char *key, vidi_str text);
/* An array of the words for vidi_capability: "delete", "count", "merge", "iterate", "grow", "concurrent". */
void cli_json_can(json_writer *json, const char *key, uint32_t can);

/* The same words with commas between, "-" if there are none. */
const char *cli_human_can(char text[64], uint32_t can);

/* A letter for each capability, or '-': "dcmlgp" for delete, count, merge, list, grow and parallel adds. */
enum { CLI_CAN_LETTERS = 7 };
const char *cli_can_letters(char text[CLI_CAN_LETTERS], uint32_t can);

/*
 * A table whose columns are as wide as their widest cell, two spaces apart. layout has one letter a column: 'l' flush
 * left or 'r' flush right. Cells are added row by row.
 */
typedef struct cli_table {
    const char *layout;
    char **cells;
    size_t used, room;
    bool failed;
} cli_table;

void cli_table_cell(cli_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Each of these adds one row of two cells: a label, and a text or a number for people. */
void cli_table_text(cli_table *table, const char *label, const char *text);
void cli_table_count(cli_table *table, const char *label, uint64_t count);
void cli_table_bytes(cli_table *table, const char *label, uint64_t bytes);

/* A figure of a run's statistics, which has a name for programs and one for people. */
typedef struct cli_figure {
    const char *key;   /* in JSON; NULL: only in the table */
    const char *label; /* in the table; NULL: only in JSON */
    enum { CLI_IS_COUNT, CLI_IS_BYTES, CLI_IS_REAL, CLI_IS_SECONDS, CLI_IS_TEXT } is;
    uint64_t count; /* CLI_IS_COUNT and CLI_IS_BYTES */
    double real;    /* CLI_IS_REAL and CLI_IS_SECONDS */
    const char *text;
} cli_figure;

/* Writes figures as fields of a JSON object that is open. */
void cli_json_figures(json_writer *json, const cli_figure *figures, size_t n);

/* Prints figures on standard error, as one JSON object or as a table. Returns the exit status. */
int cli_figures_print(const cli_figure *figures, size_t n, bool json);

/* The first row of a table with a heading for each column. */
void cli_table_heads(cli_table *table, const char *const *heads);

/* Prints the table and frees its cells. CLI_OK or CLI_ERROR, if memory ran out. */
int cli_table_print(cli_table *table, cli_out *out);

#endif
