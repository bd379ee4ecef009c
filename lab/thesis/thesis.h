/* Shared by the files that judge the thesis's claims: thesis_claims.c, thesis_costs.c and further_claims.c. */
#ifndef VIDI_LAB_THESIS_THESIS_H
#define VIDI_LAB_THESIS_THESIS_H

#include "lab/engine/judging.h"

/* thesis_costs.c: memory and times. */
lab_claim_judge lab_claim_memory, lab_claim_memory_filters, lab_claim_time_functions, lab_claim_time_break,
    lab_claim_time_multiplier, lab_claim_hashset_time, lab_claim_list_time;

/* further_claims.c: the further work. */
lab_claim_judge lab_claim_multiplier, lab_claim_delay, lab_claim_scalable, lab_claim_revisit, lab_claim_genetic,
    lab_claim_processes;

#endif
