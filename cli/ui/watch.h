/*
 * A thread that sleeps until there is something to see to: a signal, or the time to tell how far things are. All other
 * threads have those signals blocked, so that no call of theirs is ever interrupted.
 *
 * The first SIGINT or SIGTERM asks for an end in good order; the second ends the program on the spot. SIGUSR1 asks for
 * the statistics so far. A signal that was ignored when the program started stays ignored.
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
    /* its own */
    bool holds, runs;
    sigset_t signals, before;
    int signal_fd, end_fd;
    pthread_t thread;
} cli_watch;

/*
 * Holds signals back from here on, for threads that are made from now on too: before a set is opened, which may have
 * threads of its own, and must not be left half-made.
 */
void cli_watch_hold(cli_watch *watch);

/* After that. The caller fills in the first fields. If there is no thread to be had, signals keep their usual effect. */
void cli_watch_begin(cli_watch *watch);

/* Lets them through again. Also without cli_watch_begin. */
void cli_watch_end(cli_watch *watch);

#endif
