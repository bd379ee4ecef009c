/*
 * Lines on their way through the program, a slot of them at a time, and the roles that work on a slot: `fill` reads
 * lines into it, `prepare` does what needs no order, `ask` passes their URLs to the set, and `put` prints the result.
 *
 *     worker 0    fill 0 | prepare | ask 0 | put 0 | fill 2 | prepare | ask 2 | …
 *     worker 1             fill 1  | prepare       | ask 1  | put 1   | fill 3 | …
 *
 * A worker is a thread with a slot of its own, which it takes through all roles: so the lines stay in the cache of one
 * processor, and whoever is free does what comes next. Of fill, ask and put each is played by one thread at a time, and
 * slots never overtake each other there.
 *
 * At first there is one worker, so that a few lines or a slow pipe cost no threads. As soon as a slot comes back full,
 * the others join in.
 */
#ifndef VIDI_CLI_PIPELINE_STREAM_H
#define VIDI_CLI_PIPELINE_STREAM_H

#include "pipeline/input/extract.h"
#include "pipeline/input/lines.h"

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
    /* Called between fill and ask if several threads are at work, for several slots at the same time. */
    void (*prepare)(void *context, cli_slot *slot);
    int (*lull)(void *context);  /* called in the role of put when no slot was put for lull_ms */
    int lull_ms;                 /* 0: never */
    void (*quit)(void *context); /* makes a waiting fill return at once */
    uint64_t threads;            /* at most; 1: only the caller's */
    struct workers *workers;     /* while it runs */
    bool together;               /* set when several threads are at work */
    bool put_failed;             /* set when a failed put has ended the stream */
} cli_stream;

/*
 * To be called by `ask`: waits until all slots before this one have been put, and calls `lull`. CLI_OK, or an exit
 * status that ends the stream.
 */
int cli_stream_catch_up(cli_stream *stream);

/* Runs until the input ends or a role fails. CLI_OK, or the status of a failed role: put first, then ask, then fill. */
int cli_stream_run(cli_stream *stream);

#endif
