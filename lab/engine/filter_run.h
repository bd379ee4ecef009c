/*
 * One run of a plan: makes URLs, hashes them, passes them through the library's own filters (lib/inside/inside.h), and
 * counts those that are falsely seen. A bench is the memory of one thread, which it reuses for every run.
 */
#ifndef VIDI_LAB_ENGINE_FILTER_RUN_H
#define VIDI_LAB_ENGINE_FILTER_RUN_H

#include "lab/engine/schedule.h"

typedef struct lab_bench lab_bench;

/* It belongs to the innermost block (run_memory.h). */
int lab_bench_make(lab_bench **made, const lab_plan *plan, const lab_settings *settings);

/* Fills in counts[job], the URLs falsely seen, and marked[array], the bits set; 0 for jobs that need fewer runs. */
int lab_bench_run(lab_bench *bench, uint64_t run, uint64_t *counts, uint64_t *marked);

/* One run of a configuration that names its kind, through the public interface; counts the URLs falsely seen. */
int lab_set_run(const lab_config *config, const lab_settings *settings, uint64_t run, uint64_t *count);

#endif
