/*
 * Runs, on several threads. Each run is one task and writes its own row of the results, so that it does not matter
 * which thread takes it or when, or whether it was done by another process before (kept_runs.h).
 */
#ifndef VIDI_LAB_ENGINE_WORKERS_H
#define VIDI_LAB_ENGINE_WORKERS_H

#include "lab/engine/lab.h"

typedef struct lab_crew {
    const lab_settings *settings;
    uint64_t runs;
    unsigned threads;
    uint64_t part; /* what they are kept as */
    bool timed;    /* runs of different processes do not go together: kept are all or none */
    double work;   /* lab_work */
    void *context;
    int (*begin)(void *context, void **own); /* what each thread needs for itself; NULL: nothing */
    void (*end)(void *own);
    int (*run)(void *context, void *own, uint64_t run);
    size_t size; /* of a row */
    void (*save)(void *context, uint64_t run, void *row);
    void (*load)(void *context, uint64_t run, const void *row);
} lab_crew;

/* 0, a code of the library, or LAB_STOPPED. */
int lab_crew_run(const lab_crew *crew);

/* Seconds on the wall that each run adds if a run of 1e6 URLs takes so many of one thread, and there are so many. */
double lab_work(const lab_settings *settings, double seconds, uint64_t runs, bool timed);

/* What a run of 1e6 URLs of so many cells may take. */
double lab_cells_work(size_t cells);

#endif
