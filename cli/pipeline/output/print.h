/*
 * Prints what a run found out about its lines: the lines with one verdict (as they are, only their URLs, or the URLs in
 * canonical form), the verdict on every line, or at the end how often each URL came.
 */
#ifndef VIDI_CLI_PIPELINE_OUTPUT_PRINT_H
#define VIDI_CLI_PIPELINE_OUTPUT_PRINT_H

#include "pipeline/output/undelivered.h"
#include "pipeline/slot.h"
#include "ui/output.h"
#include "vidi/url.h"

typedef enum cli_print {
    CLI_PRINT_LINE,      /* the line as it was read */
    CLI_PRINT_URL,       /* the URL in it, as it was spelled */
    CLI_PRINT_CANONICAL, /* the URL in canonical form */
    CLI_PRINT_VERDICT,   /* "new", "seen" or "invalid" for every line */
    CLI_PRINT_NOTHING
} cli_print;

#define CLI_PRINT_SUMMARY "What to print: line, url, canonical or verdict [line]"
#define CLI_PRINT_DETAILS                                                                                              \
    "'line' is the whole line, 'url' the URL that --field or --json-key takes from it, 'canonical' that URL in its "   \
    "canonical form. 'verdict' answers every line of input with a line 'new', 'seen' or 'invalid', so that another "   \
    "program can write a URL and read the answer at once."

/* The value of --print; NULL is CLI_PRINT_LINE. CLI_OK, or CLI_ERROR with a message. */
int cli_print_parse(const char *word, cli_print *what);

typedef struct cli_printer {
    cli_print what;
    uint8_t wanted;         /* the verdict of the lines to print; CLI_PRINT_VERDICT ignores it */
    bool counts;            /* print how often each URL came, at the end, instead of anything before */
    bool repeats_only;      /* with counts: only URLs that came more than once */
    char end;               /* of lines */
    const vidi_canon *form; /* of the set, for CLI_PRINT_CANONICAL */
    char *header;           /* a line to print before all others, with its end; NULL: none. The printer frees it. */
    size_t header_length;
    cli_out out;
    cli_undelivered *lines; /* every line of output is added here before it is written; NULL: nowhere */

    /* private */
    char *text; /* canonical form of the current line */
    size_t text_room;
    bool header_put; /* the caller sets it if the output has a header already */
    char *kept;      /* with counts: the first line of each URL, as a kept_line and its bytes */
    size_t kept_used, kept_room;
} cli_printer;

/* Returns true if the output of a slot is lines as they are, and nothing is remembered about them. */
bool cli_printer_can_pack(const cli_printer *printer);

/* Moves the lines to print to the beginning of the block, and returns how many bytes they have. */
size_t cli_printer_pack(const cli_printer *printer, cli_slot *slot);

/* Puts the output of a slot into printer->out. CLI_OK, or CLI_ERROR with a message. */
int cli_printer_put(cli_printer *printer, const cli_slot *slot);

/* With counts: looks up how often each URL came, and puts that into printer->out. */
int cli_printer_put_counts(cli_printer *printer, const vidi_set *set, const cli_extract *extract);

/* Puts the header into printer->out, if lines are printed and it is not there yet. CLI_ERROR if memory runs out. */
int cli_printer_put_header(cli_printer *printer);

void cli_printer_free(cli_printer *printer);

#endif
