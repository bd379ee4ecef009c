/*
 * Delivery decides when a line of output is in the user's hands, so that the set may remember its URL. It depends on
 * where the output goes, and nothing is committed earlier:
 *
 *     --ack           the consumer has acknowledged the line
 *     -o FILE         the line is in the file, and synced; the file's length is committed together with the URLs
 *     a pipe, FIFO    the reader has taken the whole line out of the pipe
 *     anything else   the line was written (and synced, if it went to a regular file)
 *
 * FIONREAD tells how many bytes are in a pipe, also after its reader has gone. If other processes write to the same
 * pipe, it counts theirs too, so that less is committed than could be, but never more. At the end the program waits
 * until everything is delivered, the reader has gone, or a signal comes.
 *
 * What goes into a pipe is written in pieces that end with a line and that the pipe has room for. So a kill leaves no
 * torn line in it (unless a line is longer than 4 KiB), and commits and acknowledgements go on while a reader is slow.
 *
 * Commits come after 256 Ki changes (fewer on a server), after a second, and at the end.
 */
#ifndef VIDI_CLI_PIPELINE_OUTPUT_DELIVERY_H
#define VIDI_CLI_PIPELINE_OUTPUT_DELIVERY_H

#include <stdatomic.h>

#include "pipeline/output/acks.h"
#include "pipeline/output/output_file.h"
#include "pipeline/output/undelivered.h"
#include "pipeline/target.h"
#include "ui/output.h"

enum { CLI_COMMIT_MS = 1000 };

typedef struct cli_delivery {
    /* filled in by the caller */
    const cli_target *target; /* to commit; NULL: nothing is committed, and all output is simply written */
    bool prints;              /* there is output */
    bool syncs;               /* sync output to a regular file before each commit */
    char end;                 /* of lines */
    cli_acks acks;
    cli_output_file file;
    const _Atomic int *caught; /* the number of a signal that has come, or 0; when one comes, `wake` becomes readable */
    int wake;

    /* If `tracks`: the lines that were not delivered yet; the printer adds them. */
    cli_undelivered lines;
    bool tracks;

    /* private */
    cli_out *out;
    enum { CLI_TO_OTHER, CLI_TO_FILE, CLI_TO_PIPE, CLI_TO_SOCKET } to;
    uint64_t taken;        /* bytes that the reader has taken out of the pipe */
    uint64_t safe_mark;    /* everything up to here is delivered */
    uint64_t safe_end;     /* bytes of the output that are delivered */
    uint64_t mark;         /* committed so far */
    uint64_t changes;      /* of the set since the last commit */
    uint64_t most_changes; /* until the next one */
    uint64_t committed_at; /* nanoseconds */
    bool mid_line;         /* what was written last does not end a line */
    int status;            /* not CLI_OK: acknowledgements were wrong or ended; the message has been printed */
    bool broken;           /* committing has failed, and the message has been printed */
} cli_delivery;

/* Output to stdout, without a file and without acknowledgements. */
void cli_delivery_init(cli_delivery *delivery);

/* Finds out where the output goes. CLI_OK, or CLI_ERROR with a message. */
int cli_delivery_begin(cli_delivery *delivery, cli_out *out);

/* Call it when the output of a block was put into `out`. Its URLs made `changes` to the set, up to `mark`. */
int cli_delivery_put(cli_delivery *delivery, uint64_t changes, uint64_t mark);

/* Writes all output so far, and commits what is delivered. */
int cli_delivery_commit(cli_delivery *delivery);

/* Returns true if something was not committed yet. */
bool cli_delivery_is_behind(const cli_delivery *delivery);

/*
 * The end: writes all output, waits until it is delivered, and commits. After a failure (`failed`: not all output was
 * written, and no more will come), only what is known to be delivered is committed. CLI_OK, CLI_UNACKED, CLI_PIPE or
 * CLI_ERROR; cli_out_close reports failed writes.
 */
int cli_delivery_end(cli_delivery *delivery, bool failed);

void cli_delivery_free(cli_delivery *delivery);

#endif
