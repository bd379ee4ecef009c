/*
 * What has to be done for a list of cells, each thing once.
 *
 *   job      a configuration; cells with equal ones share it
 *   filter   an array of m bits that a run fills; jobs that look at the same one share it
 *   family   the filters whose values come from the same salts: a URL is hashed once for all of them
 *
 * The salts are those that a set of the public interface has when it is made with the run's key (lab_config_set says
 * which): set key, epoch key, member key. So each job can be counted again through the public interface.
 */
#ifndef VIDI_LAB_ENGINE_SCHEDULE_H
#define VIDI_LAB_ENGINE_SCHEDULE_H

#include "lab/engine/lab.h"

typedef struct lab_family {
    const char *functions;
    bool different; /* functions, without salts */
    bool spatial;   /* a member of a spatial set; otherwise a classic one */
    bool shuffled;  /* meets the URLs in the second order */
    unsigned epoch, member;
    unsigned k;         /* values a URL: the most that a filter needs */
    double multiplier;  /* of some filter: to make the scheme by */
    size_t first, last; /* its filters */
} lab_family;

typedef struct lab_array {
    size_t family;
    unsigned k;
    double multiplier;
} lab_array;

typedef struct lab_job {
    lab_config config;
    size_t arrays[LAB_FILTERS_MAX]; /* the first belongs to the first of its families */
    unsigned count;
} lab_job;

typedef struct lab_plan {
    lab_family *families;
    lab_array *arrays;
    lab_job *jobs;
    size_t *job_of; /* [cell] */
    size_t family_count, array_count, job_count;
} lab_plan;

/* lab_plan_free in every case. */
int lab_plan_make(lab_plan *plan, const lab_config *cells, size_t count);
void lab_plan_free(lab_plan *plan);

/* Which of the job's arrays this is, from 0; the job's count if it is none. */
static inline unsigned lab_job_step(const lab_job *job, size_t array)
{
    unsigned step = 0;
    while (step < job->count && job->arrays[step] != array)
        step++;
    return step;
}

#endif
