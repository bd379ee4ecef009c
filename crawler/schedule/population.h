/*
 * What is known of all pages together: how many of them change at all, and how fast. Counts only: pages that were seen
 * to change by their rates, the others by the time for which they have been the same.
 */
#ifndef VIDI_CRAWLER_SCHEDULE_POPULATION_H
#define VIDI_CRAWLER_SCHEDULE_POPULATION_H

#include "crawler/schedule/schedule.h"

enum {
    GRID_OCTAVE = 2,   /* rates and times on a grid, this many for a factor of two ... */
    GRID_RATES = 56,   /* ... rates from 2^-16 changes a day ... */
    GRID_RATE_0 = -16, /* ... */
    GRID_TIMES = 56,   /* ... and times from 2^-12 days */
    GRID_TIME_0 = -12
};

typedef struct population {
    uint64_t changing[GRID_RATES];  /* pages by their rate */
    uint64_t unchanged[GRID_TIMES]; /* pages by the days without a change */
    double rates[GRID_RATES];       /* the share of pages with each rate, estimated */
    double never;                   /* the share of pages that never change, estimated */
} population;

void population_start(population *population);
void population_add(population *population, const schedule_page *page);
void population_remove(population *population, const schedule_page *page);

/* Estimates the shares again, beginning with the last estimate. */
void population_learn(population *population, int steps);

/* The probability that a page that has been the same for `days` changes at all, and the mean rate of such pages. */
double population_alive(const population *population, double days, double *rate);

#endif
