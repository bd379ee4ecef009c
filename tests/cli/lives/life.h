/*
 * One life of the program: it is started as users start it, meets its fate, and has a consumer if it writes to a pipe.
 *
 * Texts grow as needed and are freed with text_free. Whatever the driver itself cannot do fails the test.
 */
#ifndef TESTS_CLI_LIVES_LIFE_H
#define TESTS_CLI_LIVES_LIFE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "fate.h"
#include "support/folder.h"

typedef struct text {
    char *at;
    size_t length, room;
} text;

void text_add(text *to, const char *bytes, size_t length);
void text_read_file(text *to, const char *path); /* a file that is absent adds nothing */
size_t text_whole_lines(const text *of);         /* the length up to the last newline */
void text_free(text *of);

/* How lines reach the user. What is promised differs: docs/STORE.md. */
typedef enum life_way {
    LIFE_APPENDS, /* >> FILE */
    LIFE_OUTPUT,  /* -o FILE */
    LIFE_PIPE,    /* | consumer */
    LIFE_ACK,     /* | consumer, which acknowledges lines */
    LIFE_WAYS
} life_way;

typedef enum consumer_end {
    CONSUMER_STAYS,
    CONSUMER_DIES,       /* with what it has not done and what is still in the pipe */
    CONSUMER_OUTLIVES,   /* the program is killed, and the consumer takes what is left in the pipe */
    CONSUMER_DIES_TOO,   /* the program is killed, and the consumer with it */
    CONSUMER_TERMINATES, /* the program gets SIGTERM, and the consumer goes on */
    CONSUMER_ENDS
} consumer_end;

typedef struct consumer {
    consumer_end end;
    uint64_t bytes; /* that it takes before that; it may stop inside a line */
    size_t piece;   /* it reads at most so many bytes at a time */
    uint64_t batch; /* it acknowledges after so many lines, and when nothing is waiting for it */
    uint64_t lag;   /* it has up to so many lines in its hands that it has not done; they die with it */
    bool lies;      /* planted: it does nothing, acknowledges all lines that it has taken, and dies */
} consumer;

enum { LIFE_FILES = 12 };

/* Where everything is. */
typedef struct life_place {
    char folder[TEST_PATH], state[TEST_PATH], output[TEST_PATH], acks[TEST_PATH];
    char tally[TEST_PATH], messages[TEST_PATH];
    char files[LIFE_FILES][TEST_PATH]; /* the input */
} life_place;

typedef struct life {
    const life_place *place;
    const char *kind; /* of the set */
    const char *sync; /* when commits are synced */
    life_way way;
    bool takes_snapshot; /* vidi snapshot STATE */
    fate fate;
    consumer consumer;
    unsigned leap_ms;    /* see FATE_LEAP_VARIABLE */
    unsigned threads;    /* of the program */
    size_t poured;       /* the input comes through a pipe, so many bytes at a time; 0: the program reads the files */
    bool acks_to_fifo;   /* which has a name; otherwise to a pipe that the program inherits */
    uint64_t file_limit; /* no file may become longer (RLIMIT_FSIZE); 0: any */
    bool limit_kills;    /* SIGXFSZ is not ignored */
    const char *device;  /* >> this device instead of the file; NULL: the file */
    bool disk_is_small;  /* so the program may fail */
} life;

typedef struct life_end {
    int status; /* as waitpid tells it */
    uint64_t calls[FATE_PLACES], struck;
    text done; /* what the consumer has taken and done with: whole lines, unless the program wrote none */
} life_end;

/* Makes a folder and the paths in it. */
void life_place_new(life_place *place, bool on_disk);
void life_run(const life *self, life_end *end);

/* What a run that remembers nothing calls new. */
void life_fresh(const life *self, text *fresh);

/* Runs `vidi COMMAND STATE` and returns its exit status. */
int life_command(const life_place *place, const char *command);

#endif
