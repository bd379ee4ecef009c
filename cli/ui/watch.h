/*
 * A thread that handles signals and the regular display of progress. All other threads have these signals blocked, so
 * that none of their calls is ever interrupted.
 *
 * The first SIGINT or SIGTERM ends the run in good order; the second ends the program at once. SIGUSR1 prints the
 * statistics so far. A signal that was ignored when the program started stays ignored.
 */
#ifndef VIDI_CLI_UI_WATCH_H
#define VIDI_CLI_UI_WATCH_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "cli.h"

typedef struct cli_watch {
    void *context;
    void (*stop)(void *context);
    void (*tell)(void *context);
    void (*tick)(void *context); /* every tick_ms; NULL: never */
    int tick_ms;
    _Atomic int caught; /* SIGINT or SIGTERM */
    /* private */
    bool holds, runs;
    sigset_t signals, before;
    int signal_fd, end_fd;
    pthread_t thread;
} cli_watch;

/*
 * Blocks the signals in this thread and in all threads that it starts later. Call it before a set is opened, because a
 * set may start threads of its own, and must not be left half-made.
 */
void cli_watch_hold(cli_watch *watch);

/*
 * Starts the thread, after cli_watch_hold. The caller fills in the first fields. Without a thread, signals act as
 * usual.
 */
void cli_watch_begin(cli_watch *watch);

/* Ends the thread, if there is one, and unblocks the signals. */
void cli_watch_end(cli_watch *watch);

#endif
