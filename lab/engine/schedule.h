/*
 * The work that a list of cells needs, with nothing done twice.
 *
 *   job      a configuration; cells with equal configurations share it
 *   array    the m bits of a filter, which a run fills; jobs that need the same one share it
 *   family   the arrays whose values come from the same functions and salts: a URL is hashed once for all of them
 *
 * Families are ordered by crawl and member, so a job's filters are filled in the order in which it lists them.
 *
 * Some jobs need fewer runs than others. A run leaves out the jobs that have enough, and all that only they need.
 *
 * The salts are those of a set that is created through the public interface with the run's key (lab_config_set says
 * which set): set key, epoch key, member key. So each job can be repeated through the public interface.
 */
#ifndef VIDI_LAB_ENGINE_SCHEDULE_H
#define VIDI_LAB_ENGINE_SCHEDULE_H

#include "lab/engine/lab.h"

typedef struct lab_family {
    char functions[LAB_FUNCTIONS_ROOM];
    bool different; /* different hash functions, without salts */
    bool spatial;   /* a member of a spatial set; otherwise a classic set */
    bool shuffled;  /* inserts the URLs in the order of its epoch */
    unsigned epoch, member;
    unsigned k;         /* values for each URL: the most that one of its arrays needs */
    double multiplier;  /* M of one of its arrays, to make a filter that hashes */
    size_t first, last; /* its arrays: first to last - 1 */
    uint64_t runs;      /* the most that one of its arrays needs */
} lab_family;

typedef struct lab_array {
    size_t family;
    unsigned k;
    double multiplier;
    uint64_t runs; /* the most that one of its jobs needs */
} lab_array;

typedef struct lab_job {
    lab_config config;
    size_t arrays[LAB_FILTERS_MAX]; /* in the order of their families */
    unsigned count;
    uint64_t runs; /* from the first on */
} lab_job;

typedef struct lab_plan {
    lab_family *families;
    lab_array *arrays;
    lab_job *jobs;
    size_t *job_of; /* [cell] */
    size_t family_count, array_count, job_count;
} lab_plan;

/* It belongs to the innermost block (run_memory.h). */
int lab_plan_make(lab_plan *plan, const lab_config *cells, size_t count, const lab_settings *settings);

/* The position of this array among those of the job; the job's count if it is not one of them. */
static inline unsigned lab_job_step(const lab_job *job, size_t array)
{
    unsigned step = 0;
    while (step < job->count && job->arrays[step] != array)
        step++;
    return step;
}

#endif
