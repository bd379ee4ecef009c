/*
 * A ring of slots, and three roles that work on them: `fill` reads lines into a slot, `ask` passes their URLs to the
 * set, and `put` prints the result. Every slot goes through the roles in that order, and slots never overtake each
 * other.
 *
 *     fill  ->  ask  ->  put          filled >= asked >= written, and filled - written <= SLOTS
 *
 * At first one thread plays all roles, so that a few lines or a slow pipe cost no threads. As soon as a slot comes back
 * full, `fill` and `put` get threads of their own.
 */
#ifndef VIDI_CLI_PIPELINE_RING_H
#define VIDI_CLI_PIPELINE_RING_H

#include "pipeline/extract.h"
#include "pipeline/lines.h"

typedef struct cli_slot {
    cli_block block;
    vidi_str *urls;        /* one for each line: block.lines, or taken out of them */
    vidi_str *taken;       /* room for URLs that were taken out; NULL until it is needed */
    cli_unquoted unquoted; /* and for bytes of theirs that are not in the lines */
    uint64_t field;        /* the number of the field they were taken out of */
    size_t lookups;        /* URLs to look up: all, or all but the last if that line must have a URL and has none */
    char *why;             /* then: why not */
    bool gaps;             /* there are lines without a URL, which are dropped (cli_extract_is_none) */
    uint8_t *verdicts;
    vidi_digest *digests; /* of the first `digested` URLs; NULL until it is needed */
    uint64_t epoch;       /* of the digests */
    size_t digested;
    uint64_t mark;   /* commit mark of the set after these lines */
    uint64_t *marks; /* after each line; NULL until it is needed */
} cli_slot;

typedef struct cli_stream {
    void *context;
    /* Each returns CLI_OK, or an exit status that ends the stream. */
    int (*fill)(void *context,
                cli_slot *slot); /* no lines: the input has ended; after a failure the lines are still used */
    int (*ask)(void *context, cli_slot *slot); /* after a failure the lines that have a verdict are still printed */
    int (*put)(void *context, cli_slot *slot); /* after a failure nothing more is printed */
    int (*lull)(void *context);                /* called in the thread of put when no slot has come for lull_ms */
    int lull_ms;                               /* 0: never */
    void (*quit)(void *context);               /* makes a waiting fill return at once */
    uint64_t threads;                          /* at most; 1: only the caller's */
    bool together;                             /* set when several threads are at work */
    bool put_failed;                           /* set when a failed put has ended the stream */
} cli_stream;

/* Runs until the input ends or a role fails. CLI_OK, or the status of a failed role: put first, then ask, then fill. */
int cli_stream_run(cli_stream *stream);

#endif
