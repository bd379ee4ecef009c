/* Runs the program as a child, and ends it if asked to. */
#ifndef TESTS_CRAWLER_SITE_CHILD_H
#define TESTS_CRAWLER_SITE_CHILD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHILD_WORDS = 96, CHILD_VARIABLES = 16 };

typedef struct child_plan {
    const char *words[CHILD_WORDS];         /* the first is the program; ends in NULL */
    const char *variables[CHILD_VARIABLES]; /* further "NAME=value"; ends in NULL */
    const char *out, *err;                  /* files; NULL: /dev/null */
    const char *begun;                      /* the signal waits until this file is there; NULL: for none */
    int64_t after_us;                       /* microseconds from then until the signal is sent, if one is */
    int signal;                             /* 0: none */
} child_plan;

/* Adds words to the command line; the last argument is NULL. They must stay. */
void child_add(child_plan *plan, ...) __attribute__((sentinel));
void child_set(child_plan *plan, const char *variable);

/* The path of a file in the folder of the build ("vidi", "tests/libpower.so"), or NULL if there is none. */
const char *child_built(const char *name);

pid_t child_start(const child_plan *plan);
/* Returns the status as waitpid gives it, or -1. */
int child_run(const child_plan *plan);

#endif
