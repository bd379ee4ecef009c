/*
 * vidi-bench-threads measures how an operation gains from more threads: 1, 2, 4 and so on work on one set, and a
 * lock-free table of hashes does the same job beside it.
 *
 *     program.c      options, rounds                      rows.c       what is measured, and whether it was right
 *     team.c         threads that work at the same time   shared_set.c vidi
 *     cas_table.c    the peer                             tables.c     Markdown and JSON
 */
#ifndef BENCH_THREADS_THREADS_H
#define BENCH_THREADS_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/subjects.h"

#define THREADS_MOST 256u
#define THREADS_COLUMNS 12
#define THREADS_ROWS 16
#define THREADS_CHUNK 16384u
#define THREADS_LARGE_FROM 50000000u /* from this many URLs on, the main rows are measured, in one round */

typedef enum thread_job {
    THREADS_ADD, /* every thread adds URLs of its own */
    THREADS_HOT, /* all threads add the same one */
    THREADS_HAS, /* half of the URLs are present */
    THREADS_JOBS
} thread_job;

enum {
    THREADS_MAIN = 1,  /* also measured at 1e8 */
    THREADS_GROWN = 2, /* nothing is reserved */
    THREADS_FOLDER = 4 /* the set lives in a folder */
};

/* What a set says about itself after the adds. */
typedef struct thread_weight {
    uint64_t bytes;
    uint64_t told_new;    /* by its own statistics */
    double expected_lost; /* URLs */
    double fp;            /* probability that an absent URL is answered SEEN */
} thread_weight;

/* A set that threads share, and how it is used. Each function prints what was wrong, and then returns NULL or false. */
typedef struct thread_recipe {
    const char *kind;
    double error;
    unsigned flags;
    uint64_t n, seed;
    const char *folder; /* where a set in a folder is made */
} thread_recipe;

typedef struct thread_class {
    void *(*make)(const thread_recipe *recipe);
    void (*close)(void *self);
    /* Adds, or looks up, n URLs, `batch` at a time. */
    bool (*add)(void *self, const vidi_str *urls, size_t n, size_t batch, uint8_t *verdicts);
    bool (*has)(void *self, const vidi_str *urls, size_t n, size_t batch, uint8_t *verdicts);
    bool (*weigh)(void *self, thread_weight *weight);
} thread_class;

extern const thread_class thread_sets, thread_cas_tables;

/* ---- team.c ---- */

typedef struct thread_task {
    const thread_class *class;
    void *self;
    thread_job job;
    size_t batch;
    uint64_t n;    /* URLs of all threads together */
    uint64_t held; /* URLs that were added before, for THREADS_HAS */
    uint64_t seed;
    unsigned threads;
    size_t chunk; /* URLs that a thread makes at once */
    bool pinned;  /* each thread stays on a core of its own */
} thread_task;

typedef struct thread_outcome {
    double ns;              /* that the slowest thread worked */
    double cpu_ns;          /* of all threads together */
    uint64_t fresh, seen;   /* verdicts; of THREADS_HAS, about URLs that are present */
    uint64_t absent, wrong; /* absent URLs that were looked up, and those of them that were answered SEEN */
} thread_outcome;

/* The number of cores that this process may use. */
unsigned thread_cores(void);
bool thread_team_run(const thread_task *task, thread_outcome *outcome);

/* ---- rows.c ---- */

typedef struct thread_row {
    const char *label[2];     /* of adding and of looking up; the latter is NULL if it is not measured */
    const char *operation[2]; /* as build/bench.json calls them */
    const char *subject;      /* the same */
    const thread_class *class;
    const char *kind;
    double error;
    thread_job job;
    size_t batch;
    unsigned flags;
} thread_row;

extern const thread_row thread_rows[];
extern const size_t thread_row_count;

typedef struct thread_figures {
    bench_series series[2];
    uint64_t n[2];
    double bytes; /* a URL */
} thread_figures;

typedef struct thread_run {
    uint64_t sizes[BENCH_SIZES_MAX];
    size_t size_count;
    unsigned threads[THREADS_COLUMNS];
    size_t column_count;
    int rounds; /* requested; 0: three, or one of a large size */
    double seconds;
    size_t chunk;
    bool pinned;
    const char *only, *folder, *json;
    thread_figures figures[BENCH_SIZES_MAX][THREADS_ROWS][THREADS_COLUMNS];
} thread_run;

/* Fills a set, looks URLs up in it if the row says so, and checks all answers. */
bool thread_row_measure(thread_run *run, size_t size, size_t row, size_t column, int round);

/* ---- tables.c ---- */

void thread_tables(const thread_run *run, size_t size, FILE *out);
int thread_json(const thread_run *run, const char *path);

#endif
