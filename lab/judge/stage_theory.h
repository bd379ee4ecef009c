/*
 * Theory of a filter that grows by stages (kind `scalable`), derived from how its stages are made, not from what the
 * library says about them.
 *
 * Stage i is made for c_i = c_0 2^i URLs with an error rate of P 2^-(i+1) / 1.05, in as few bits as possible. It gets
 * the URLs that no earlier stage has seen, and is full when c_i of them were new to it. By then j URLs have reached it,
 * and lab_filling_theory tells how many of these were falsely seen. From j follow the fill and the rate p_i of each
 * stage; the last stage gets the remaining URLs. The rate of the whole filter is 1 - product of (1 - p_i).
 */
#ifndef VIDI_LAB_JUDGE_STAGE_THEORY_H
#define VIDI_LAB_JUDGE_STAGE_THEORY_H

#include "lab/engine/lab.h"

/* The probability that a URL is falsely seen, which differs from run to run. */
typedef struct lab_chance {
    double mean, variance;
} lab_chance;

/* Of a Bloom filter with m bits and k hash functions that holds `urls` URLs. */
lab_chance lab_chance_of(uint64_t urls, double m, unsigned k);

/* The fewest bits with which a Bloom filter of k hash functions keeps a rate for `urls` URLs. */
double lab_fewest_bits(uint64_t urls, double rate, unsigned k);

/* The smallest Bloom filter that keeps a rate for `urls` URLs. */
typedef struct lab_stage {
    double m;
    unsigned k;
} lab_stage;

lab_stage lab_smallest_stage(uint64_t urls, double rate);

/* The stages of a filter whose first stage is made for `first` URLs, and whose compound rate is `error`. */
typedef struct lab_series {
    uint64_t first;
    double error;
} lab_series;

/* The first stage. */
lab_stage lab_series_start(lab_series series);

/* The rate of the whole filter when it holds `urls` URLs. */
lab_chance lab_series_chance(lab_series series, uint64_t urls);

/* How many of the URLs themselves are falsely seen while they are inserted. */
lab_theory lab_series_filling(lab_series series, uint64_t urls);

#endif
