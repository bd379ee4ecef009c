/*
 * What may happen to a run of the program: fate.c is loaded into it (LD_PRELOAD) and kills it, or makes a call fail, at a
 * chosen call that changes a file. So a crash point is exact, can be repeated, and every call can be one.
 *
 * The driver passes a fate in environment variables and reads the counts from a file that both of them map.
 */
#ifndef TESTS_CLI_LIVES_FATE_H
#define TESTS_CLI_LIVES_FATE_H

#include <stdatomic.h>
#include <stdint.h>

/* "how where number": see below; how and where are numbers, too. */
#define FATE_VARIABLE "VIDI_FATE"
/* The path of the output file, if it is not standard output. */
#define FATE_OUTPUT_VARIABLE "VIDI_FATE_OUTPUT"
/* The path of a file with a fate_tally. */
#define FATE_TALLY_VARIABLE "VIDI_FATE_TALLY"
/* The program's clock leaps by this many milliseconds whenever it is read, so that what is due each second is done often. */
#define FATE_LEAP_VARIABLE "VIDI_FATE_LEAP"

typedef enum fate_how {
    FATE_NOTHING,
    FATE_KILL,        /* kill -9 instead of the call */
    FATE_KILL_INSIDE, /* kill -9 when half of the bytes are written; other calls are done before it */
    FATE_FAIL,        /* the call fails: the disk is full */
    FATE_FAIL_ALWAYS, /* the same for all calls from this one on */
    FATE_TERMINATE,   /* SIGTERM comes during the call */
    FATE_SHORT,       /* half of the bytes are written, and all later writes fail: the disk is full */
    FATE_HOWS,

    /* Planted faults of the program, which the checker must find. Number: the first write to the output that can. */
    FATE_DROP_LINE = FATE_HOWS,
    FATE_TEAR_LINE,
    FATE_SPOIL_LINE, /* one byte is another one */
    FATE_GLUE_LINES,
    FATE_REPEAT_LINE,
    FATE_SWALLOW_WRITE, /* says that it is written */
    FATE_ALL_TAKEN,     /* says that the reader of a pipe has taken everything */

    FATE_INTERRUPT /* a signal interrupts every second call; it must make no difference */
} fate_how;

typedef enum fate_where { FATE_ELSEWHERE, FATE_OUTPUT, FATE_STATE, FATE_ANYWHERE, FATE_PLACES } fate_where;

typedef struct fate {
    fate_how how;
    fate_where where;
    uint64_t number; /* of the call, among those that change something there; from 1 */
} fate;

typedef struct fate_tally {
    _Atomic uint64_t calls[FATE_PLACES];
    _Atomic uint64_t struck; /* how often */
} fate_tally;

#endif
