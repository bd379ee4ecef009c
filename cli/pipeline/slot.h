/*
 * A slot: a block of lines on its way through the program, and the four steps that a job takes it through:
 *
 *     fill       reads the lines
 *     prepare    canonical forms and hashes: what needs no order
 *     ask        passes the URLs to the set
 *     put        prints the result, and commits what was delivered
 */
#ifndef VIDI_CLI_PIPELINE_SLOT_H
#define VIDI_CLI_PIPELINE_SLOT_H

#include "pipeline/input/extract.h"
#include "pipeline/input/lines.h"
#include "vidi/transfer.h"

struct cli_job;

typedef struct cli_slot {
    cli_block block;
    vidi_str *urls;        /* one for each line: block.lines, or taken out of them */
    vidi_str *taken;       /* room for URLs that were taken out of lines; NULL until it is needed */
    cli_unquoted unquoted; /* room for bytes of URLs that are not in the lines, because they were unquoted */
    uint64_t field;        /* the number of the field that holds the URL */
    size_t lookups;        /* URLs to look up: all, or all but the last if that line must have a URL and has none */
    char *why;             /* why that last line has no URL; NULL: it has one */
    bool gaps;             /* there are lines without a URL, which are dropped (cli_extract_is_none) */
    uint8_t *verdicts;
    vidi_digest *digests; /* of the first `digested` URLs; NULL until it is needed */
    uint64_t epoch;       /* of the digests */
    size_t digested;
    uint64_t mark;   /* commit mark of the set after these lines */
    uint64_t *marks; /* after each line; NULL until it is needed */
} cli_slot;

/* No lines: the input has ended. After a failure, which ends the job, the lines that were read are still used. */
int cli_slot_fill(struct cli_job *job, cli_slot *slot);

/* May run for several slots at the same time. */
void cli_slot_prepare(struct cli_job *job, cli_slot *slot);

/* After a failure, which ends the job, the lines that have a verdict are still printed. */
int cli_slot_ask(struct cli_job *job, cli_slot *slot);

/* After a failure, which ends the job, nothing more is printed. */
int cli_slot_put(struct cli_job *job, cli_slot *slot);

/* Stands in for put when no output has come for a while: commits what was delivered meanwhile. */
int cli_slot_lull(struct cli_job *job);

/* Takes the first line of each file, if it is a header; prints that of the first file. `context` is the job. */
int cli_slot_header(void *context, const char *file, vidi_str line);

void cli_slot_free(cli_slot *slot);

#endif
