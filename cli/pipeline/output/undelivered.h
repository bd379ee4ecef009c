/*
 * The lines of output that were not delivered yet, in order: where each ends in the output, and the commit mark before
 * its URL. The set may be committed up to the mark of the first line in here, and no further.
 *
 * A line takes 8 bytes: both numbers count from the first line of a chunk. So even a consumer that never acknowledges
 * anything costs less memory here than its URLs do in the set, which keeps them staged.
 */
#ifndef VIDI_CLI_PIPELINE_OUTPUT_UNDELIVERED_H
#define VIDI_CLI_PIPELINE_OUTPUT_UNDELIVERED_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cli_undelivered {
    uint64_t mark;      /* of the last line that was added; the caller may move it on */
    uint64_t added;     /* lines so far */
    uint64_t delivered; /* lines that were taken out again */
    uint64_t end;       /* where the last delivered line ends, in bytes from the beginning of the output */
    /* private */
    struct cli_undelivered_chunk *first, *last;
    unsigned gone; /* lines of the first chunk that have left */
} cli_undelivered;

/* Adds a line that ends at `end`, with the mark before its URL. false: out of memory. */
bool cli_undelivered_add(cli_undelivered *lines, uint64_t end, uint64_t mark);

/* Where the first line ends; false if there is none. */
bool cli_undelivered_first(const cli_undelivered *lines, uint64_t *end);

/* Takes the first line out: it was delivered. There must be one. */
void cli_undelivered_take(cli_undelivered *lines);

/* Up to here everything may be committed. */
uint64_t cli_undelivered_mark(const cli_undelivered *lines);

void cli_undelivered_free(cli_undelivered *lines);

#endif
