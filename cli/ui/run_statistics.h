/*
 * The statistics of a run, for people and for programs, and the warning that a set has become too full.
 */
#ifndef VIDI_CLI_UI_RUN_STATISTICS_H
#define VIDI_CLI_UI_RUN_STATISTICS_H

#include "ui/output.h"

typedef struct cli_report {
    uint64_t read, fresh, seen; /* lines */
    uint64_t invalid;           /* lines that are no URLs, whatever became of them */
    uint64_t bytes;             /* of text */
    double seconds;
    vidi_stats set;
} cli_report;

/*
 * How to read expected_lost. It is summed up when a URL is answered NEW, so what was lost since the last NEW is missing
 * from it: next to nothing, unless the set is so full that it hardly ever answers NEW.
 */
const char *cli_lost_is(const vidi_stats *stats);

/* Lines a second, on average. */
double cli_report_rate(const cli_report *report);

/* All of it, inside an object that is open. */
void cli_report_fields(cli_json *json, const cli_report *report);

/* On stderr. CLI_OK or an exit status. */
int cli_report_json(const cli_report *report);
int cli_report_table(const cli_report *report);

/* Warns if the set has more URLs than it was made for and cannot grow, or takes most new URLs for seen ones. */
void cli_report_warn(const cli_report *report);

/*
 * --strict: CLI_EXCEEDED, with a message, if the set has more URLs than it was made for, or if more pages than `lost`
 * are expected to be lost (a negative number: no limit); otherwise CLI_OK.
 */
int cli_report_strict(const cli_report *report, double lost);

#endif
