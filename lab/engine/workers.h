/*
 * Makes runs on several threads. Each run is one task that writes its own row of the results, so it does not matter
 * which thread takes it, or when, or whether an earlier process already made it (kept_runs.h).
 */
#ifndef VIDI_LAB_ENGINE_WORKERS_H
#define VIDI_LAB_ENGINE_WORKERS_H

#include "lab/engine/lab.h"

typedef struct lab_crew {
    const lab_settings *settings;
    uint64_t first, runs; /* the runs first to runs - 1 are made */
    unsigned threads;
    uint64_t part;    /* number of the measurement, for keeping its runs */
    bool one_process; /* the runs must come from one process: all of them are kept or none */
    double (*work_of)(const void *context, uint64_t run); /* lab_work of a run */
    void *context;
    int (*begin)(void *context, void **own); /* makes what each thread needs, in a block; NULL: nothing */
    int (*run)(void *context, void *own, uint64_t run);
    size_t size; /* of a row, in bytes */
    void (*save)(void *context, uint64_t run, void *row);
    void (*load)(void *context, uint64_t run, const void *row);
} lab_crew;

/* Returns 0, a code of the library, or LAB_STOPPED. */
int lab_crew_run(const lab_crew *crew);

/* Wall-clock seconds that each of `runs` runs adds, if a run of 1e6 URLs takes one thread `seconds`. */
double lab_work(const lab_settings *settings, double seconds, uint64_t runs, bool timed);

/* What measuring these configurations takes, without those that this build lacks. */
lab_tally lab_cells_tally(const lab_config *cells, size_t count, const lab_settings *settings);

#endif
