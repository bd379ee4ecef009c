/*
 * Three roles over a ring of slots: one fills a slot with lines, one asks the set about them, one puts out what is to
 * be printed. Each slot goes through the roles in that order, and the slots keep their order in each role.
 *
 *     fill  ->  ask  ->  put          filled >= asked >= written, and filled - written <= SLOTS
 *
 * It begins in one thread, so that a few lines, or a slow pipe, cost no more than they must. When a slot comes back
 * full, filling and putting get threads of their own.
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
    uint64_t mark; /* of the set, behind these lines */
} cli_slot;

typedef struct cli_stream {
    void *context;
    /* Each returns CLI_OK, or an exit status that ends the stream. */
    int (*fill)(void *context, cli_slot *slot); /* a slot of no lines is the end; the lines of a failed one are used */
    int (*ask)(void *context, cli_slot *slot);  /* also of a failed one what has a verdict is put out */
    int (*put)(void *context, cli_slot *slot);  /* nothing is put out after it has failed */
    int (*lull)(void *context);                 /* called by who puts when nothing has come for lull_ms */
    int lull_ms;                                /* 0: never */
    void (*quit)(void *context);                /* makes a fill that waits return at once */
    uint64_t threads;                           /* 1: never more than the caller's */
    bool together;                              /* set when there are more */
    bool put_failed;                            /* set when the stream has ended because of that */
} cli_stream;

/* Until the end of the input or of all trouble. CLI_OK or the first failure's status, that of putting before others. */
int cli_stream_run(cli_stream *stream);

#endif
