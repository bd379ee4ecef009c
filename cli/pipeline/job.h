/*
 * The part that `dedup`, `has` and `remove` share: every line of the files is added to a set, looked up in it or
 * removed from it, and the result is printed.
 *
 * A set that lives in a folder is committed only up to where the output was delivered: see delivery.h. For this the set
 * is asked for a mark after each block of lines, or after each line. So whatever ends the program, every URL that the
 * set has seen afterwards is in the user's hands.
 *
 * Workers take slots of lines (slot.h) through the steps:
 *
 *     worker 0    fill 0 | prepare | add 0 | ask 0 | put 0 | fill 2 | prepare | add 2 | …
 *     worker 1             fill 1  | prepare | add 1       | ask 1  | put 1   | fill 3 | …
 *
 * A worker is a thread with a slot of its own, which it takes through all steps: so the lines stay in the cache of one
 * processor, and whichever worker is free does what comes next. One thread at a time plays the role of fill, one that
 * of ask and one that of put, and slots never overtake each other there. What takes most of the time is outside of
 * these roles: finding the ends of lines, canonical forms, hashes, adds (shards.h), and collecting the lines to print.
 * Inside remain reading, counting lines, and writing.
 *
 * At first there is one worker, so that a few lines or a slow pipe cost no threads. As soon as a slot comes back full,
 * the others join in.
 */
#ifndef VIDI_CLI_PIPELINE_JOB_H
#define VIDI_CLI_PIPELINE_JOB_H

#include "pipeline/output/delivery.h"
#include "pipeline/held.h"
#include "pipeline/output/print.h"
#include "pipeline/target.h"
#include "ui/live_file.h"
#include "ui/run_statistics.h"
#include "ui/watch.h"

/* What a job does with each URL. The verdict on a URL is the answer from before the change. */
typedef enum cli_action { CLI_LOOK_UP, CLI_ADD, CLI_REMOVE } cli_action;

typedef struct cli_job {
    /* what to do */
    cli_target target;
    cli_action action;
    bool fails_invalid;    /* CLI_REMOVE: a line that is not a URL ends the run; for the others the set knows */
    cli_target also;       /* looked up too: what it has seen counts as seen */
    bool commits;          /* the set lives in a folder or on a server, and changes count when they are committed */
    cli_delivery delivery; /* where the output goes: acknowledgements, file, and whether to sync */
    cli_printer printer;   /* its `end` is also how the lines of the input end */
    bool eager;            /* write after every block */
    cli_extract extract;
    uint64_t threads; /* at most; 0: as many as help */
    cli_line_limit limit;
    bool progress;
    cli_live live; /* its path is the folder through which `vidi top` follows the run; NULL: none */
    double lost;   /* pages that may be lost, for the progress line; 0: not given */

    /* results */
    _Atomic uint64_t read, fresh, seen, invalid;
    _Atomic uint64_t unacked; /* lines that waited for an acknowledgement at the last lull */
    int signal;               /* the signal that ended the job; 0: none */
    bool refused;             /* the set could not take a line, and a message said so */
    _Atomic bool gave_up;     /* the set could not be read or written */
    uint64_t left;            /* lines left to other clients, which had claimed their URLs all the time */

    /* private */
    struct cli_workers *workers; /* while it runs */
    bool in_shards;              /* slots may be added in shards */
    cli_reader reader;
    cli_held held; /* lines of a set on a server that are asked about again */
    bool told_waiting;
    bool runs; /* other threads may use the set */
    cli_watch watch;
    uint64_t started;                    /* nanoseconds */
    uint64_t asked, asked_bytes;         /* lines passed to the set, and their bytes */
    uint64_t known, known_fresh;         /* of these, the lines of earlier slots, and how many were new */
    double look_at;                      /* when to estimate next, in bytes of input */
    uint64_t looked_known, looked_fresh; /* the counts at the last estimate */
    vidi_stats before;
    char *complaint;     /* said when the output has been written */
    size_t header_text;  /* length of the first header, without the end of its line */
    bool headers_differ; /* and a warning said so */
    uint8_t *others;     /* verdicts of `also` */
    int lull_status;
    bool drawn;
} cli_job;

/* An empty job, for the caller to fill in. Signals are blocked until it runs. */
void cli_job_init(cli_job *job);

#define CLI_THREADS_SUMMARY "Maximum number of threads [processors, at most 16]"

/* Returns the exit status. If a signal ended the job early but in good order, that is CLI_OK, with job->signal set. */
int cli_job_run(cli_job *job, cli_words files);

/* The statistics so far. May be called from any thread. */
int cli_job_report(const cli_job *job, cli_report *report);

/*
 * To be called in the role of ask: waits until all slots before this one have been put, and commits what was delivered.
 * CLI_OK, or an exit status that ends the job.
 */
int cli_job_catch_up(cli_job *job);

/* Also for a job that never ran. The sets and the canonical form belong to the caller. */
void cli_job_free(cli_job *job);

#endif
