/*
 * The statistics of a run, for people and for programs, and the warning that a set has become too full.
 */
#ifndef VIDI_CLI_UI_RUN_STATISTICS_H
#define VIDI_CLI_UI_RUN_STATISTICS_H

#include "ui/output.h"

typedef struct cli_report {
    uint64_t read, fresh, seen; /* lines */
    uint64_t invalid;           /* lines that are not URLs, also if they were kept */
    uint64_t bytes;             /* of text */
    double seconds;
    vidi_stats set;
    bool away;      /* the set is on a server; then: */
    uint64_t left;  /* lines left to other clients, which had claimed their URLs */
    uint64_t stale; /* URLs that were committed after their claim was over */
} cli_report;

/*
 * How to read expected_lost, in words. The set adds to it only when it answers NEW, so losses since the last NEW are
 * not in it yet. That matters only if the set is so full that it hardly ever answers NEW: then it is "at least".
 */
const char *cli_lost_is(const vidi_stats *stats);

/* Average lines per second. */
double cli_report_rate(const cli_report *report);

/* Writes all figures as fields of a JSON object that is open. */
void cli_report_fields(json_writer *json, const cli_report *report);

/* Prints the statistics on stderr, as JSON or as a table. CLI_OK or an exit status. */
int cli_report_print(const cli_report *report, bool json);

/*
 * Warns if the set has more URLs than it was made for and cannot grow, or mistakes most new URLs for seen ones; and if
 * other clients of a set on a server have URLs of this run.
 */
void cli_report_warn(const cli_report *report);

/*
 * --strict: CLI_EXCEEDED, with a message, if the set has more URLs than it was made for, or if more pages than `lost`
 * are expected to be lost (a negative number: no limit); otherwise CLI_OK.
 */
int cli_report_strict(const cli_report *report, double lost);

#endif
