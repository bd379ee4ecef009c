/*
 * What the experiments on the counting notes share. Those on k and on the errors of counters are tables of
 * configurations (experiments.c).
 */
#ifndef VIDI_LAB_COUNTING_COUNTING_H
#define VIDI_LAB_COUNTING_COUNTING_H

#include "lab/engine/study.h"

/* The number of URLs to insert: a tenth of settings->urls. */
static inline uint64_t lab_counting_urls(const lab_settings *settings)
{
    return lab_urls_part(settings, 10, 1000);
}

/* counting_claims.c: the best k is (m/n) ln 2. The eigenvalue paper claims this too. */
lab_claim_judge lab_claim_best_k;

#endif
