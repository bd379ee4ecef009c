/*
 * Acknowledgements (--ack): the consumer tells how many lines of output it is done with. It writes one decimal number
 * per line, each the total so far, counted from the first line of output. Numbers never decrease. A consumer that
 * finishes lines out of order acknowledges the lines before the first one that is not done.
 */
#ifndef VIDI_CLI_PIPELINE_OUTPUT_ACKS_H
#define VIDI_CLI_PIPELINE_OUTPUT_ACKS_H

#include "cli.h"

enum { CLI_ACK_ROOM = 24, CLI_ACKS_READ = 4096 };

typedef struct cli_acks {
    int fd;         /* -1: none are wanted */
    uint64_t count; /* lines acknowledged so far */
    bool ended;     /* no more will come */
    /* private */
    bool ours; /* opened here */
    char line[CLI_ACK_ROOM];
    size_t length; /* of the incomplete line */
    char bytes[CLI_ACKS_READ];
    size_t at, have; /* of `bytes`: how many were used, and how many were read */
} cli_acks;

/*
 * Opens what the user named: a number is a file descriptor, anything else a path. A FIFO is opened without waiting for
 * its writer, so either side may open it first. CLI_OK, or CLI_ERROR with a message.
 */
int cli_acks_open(cli_acks *acks, const char *word);

/*
 * Takes the next line that has come, without waiting; *got is false if there is none. CLI_OK, or CLI_ERROR with a
 * message if the line is not a number, or less than the one before. A last line without its newline does not count:
 * its writer may have died in the middle of it.
 */
int cli_acks_next(cli_acks *acks, bool *got);

void cli_acks_close(cli_acks *acks);

#endif
