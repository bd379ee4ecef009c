/*
 * One run of a plan: URLs are made, hashed and sent through the library's own filters (lib/inside/inside.h), and what was
 * falsely seen is counted. A bench is the memory of one thread, used for one run after the other.
 */
#ifndef VIDI_LAB_ENGINE_FILTER_RUN_H
#define VIDI_LAB_ENGINE_FILTER_RUN_H

#include "lab/engine/schedule.h"

typedef struct lab_bench lab_bench;

/* lab_bench_free takes NULL, too. */
int lab_bench_make(lab_bench **made, const lab_plan *plan, const lab_settings *settings);
void lab_bench_free(lab_bench *bench);

/* counts [job] and marked [array]. */
int lab_bench_run(lab_bench *bench, uint64_t run, uint64_t *counts, uint64_t *marked);

/* One run of a configuration that names its kind, through the public interface: how many were falsely seen. */
int lab_set_run(const lab_config *config, const lab_settings *settings, uint64_t run, uint64_t *count);

#endif
