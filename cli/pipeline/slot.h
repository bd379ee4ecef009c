/*
 * A slot: a block of lines on its way through the program, and the steps that a job takes it through:
 *
 *     fill       reads the lines
 *     take       finds their ends, unless fill has, and takes URLs out of the lines
 *     prepare    canonical forms and hashes: what needs no order
 *     add        passes the URLs to the set, if the answers do not depend on the order of slots
 *     ask        otherwise passes the URLs to the set; reports errors
 *     pack       moves the lines to print together
 *     put        prints the result, and commits what was delivered
 *
 * Of fill, ask and put, each deals with one slot at a time, in order. The others run for several slots at once.
 */
#ifndef VIDI_CLI_PIPELINE_SLOT_H
#define VIDI_CLI_PIPELINE_SLOT_H

#include "pipeline/input/extract.h"
#include "pipeline/input/lines.h"
#include "pipeline/shards.h"

struct cli_job;

typedef struct cli_slot {
    cli_block block;
    vidi_str *urls;        /* one for each line: block.lines, or taken out of them */
    vidi_str *taken;       /* room for URLs that were taken out of lines; NULL until it is needed */
    cli_unquoted unquoted; /* room for bytes of URLs that are not in the lines, because they were unquoted */
    cli_extract extract;   /* that of the job for this file, and what these lines lack */
    size_t lookups;        /* URLs to look up: all, or all but the last if that line must have a URL and has none */
    cli_lack lack;         /* what that last line lacks */
    unsigned round;        /* how often these lines were put aside before (held.h) */
    bool failed;           /* memory ran out, and a message said so; there are no lines */
    bool gaps;             /* there are lines without a URL, which are dropped (cli_extract_is_none) */
    uint8_t *verdicts;
    vidi_digest *digests; /* of the first `digested` URLs; NULL until it is needed */
    uint64_t epoch;       /* of the digests */
    size_t digested;
    cli_sharding *sharding; /* NULL until it is needed */
    bool asked;             /* the set has answered, or failed with `error` */
    int error;
    bool also_failed;   /* it was the set that is looked up beside the target */
    uint64_t counts[4]; /* of each verdict, once the set has answered */
    bool packed;        /* the lines to print are the first `output` bytes of the block */
    size_t output;
    uint64_t mark;   /* commit mark of the set after these lines */
    uint64_t *marks; /* after each line; NULL until it is needed */
} cli_slot;

/* No lines: the input has ended. After a failure, which ends the job, the lines that were read are still used. */
int cli_slot_fill(struct cli_job *job, cli_slot *slot);

/* This and the next two, and pack, may run for several slots at the same time. */
void cli_slot_take(cli_slot *slot);

void cli_slot_prepare(struct cli_job *job, cli_slot *slot);

/* Adds or looks up the URLs of the slot with this number, if that is possible now. Otherwise they are left for ask. */
void cli_slot_add(struct cli_job *job, cli_slot *slot, cli_shards *shards, uint64_t number);

/* After a failure, which ends the job, the lines that have a verdict are still printed. */
int cli_slot_ask(struct cli_job *job, cli_slot *slot);

/* Does what put need not do in order. The lines of the slot are gone afterwards. */
void cli_slot_pack(const struct cli_job *job, cli_slot *slot);

/* After a failure, which ends the job, nothing more is printed. */
int cli_slot_put(struct cli_job *job, cli_slot *slot);

/* Stands in for put when no output has come for a while: commits what was delivered meanwhile. */
int cli_slot_lull(struct cli_job *job);

/* Takes the first line of each file, if it is a header; prints that of the first file. `context` is the job. */
int cli_slot_header(void *context, const char *file, vidi_str line);

void cli_slot_free(cli_slot *slot);

#endif
