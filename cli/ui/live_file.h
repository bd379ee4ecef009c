/*
 * How a run can be followed from outside: a run that has a state writes its statistics to the file STATE/live twice a
 * second, and `vidi top` reads them there.
 *
 * The file has one line of JSON, padded with spaces to CLI_LIVE_BYTES, and is overwritten in place. It begins and ends
 * with the same sequence number, which changes with each write: a reader that finds two different numbers has met a
 * write, and reads again. The writer holds a lock (flock) on the file as long as it lives. The file gets its name when
 * it is locked, and is removed at the end. A file that is not locked was left by a process that was killed, and is
 * ignored.
 *
 * Only its owner can read it, like everything in a state. If it cannot be written, the run goes on without it.
 */
#ifndef VIDI_CLI_UI_LIVE_FILE_H
#define VIDI_CLI_UI_LIVE_FILE_H

#include "ui/run_statistics.h"

enum { CLI_LIVE_BYTES = 4096, CLI_LIVE_RATES = 60 };

/* Lines in each of the last seconds, the oldest first. */
typedef struct cli_live_rates {
    uint64_t lines[CLI_LIVE_RATES];
    size_t count;
} cli_live_rates;

/* The writer's side. Begins as {.path = …, .fd = -1}. */
typedef struct cli_live {
    const char *path; /* the state's folder; NULL: nothing is ever written */
    int fd;           /* -1: not made yet */
    bool failed;
    uint64_t sequence;
    double published; /* when, in seconds of the run */
    cli_live_rates rates;
    double second_began; /* when the current second began, in seconds of the run */
    uint64_t second_read;
} cli_live;

/* May be called more often than twice a second; the first call makes the file. */
void cli_live_publish(cli_live *live, const cli_report *report);

/* Removes the file. This process must still hold the lock of the state, so the file cannot belong to another one. */
void cli_live_end(cli_live *live);

/* The reader's side. */
typedef struct cli_live_view {
    uint64_t pid;
    cli_report report; /* of the set: what `vidi --stats` shows, and the fill */
    cli_live_rates rates;
} cli_live_view;

/* True if a process is using the state; the view is then its last report. */
bool cli_live_read(const char *path, cli_live_view *view);

#endif
