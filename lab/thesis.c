/* Experiments: what the thesis claims. */
#include "lab/study.h"

const lab_claim lab_thesis_claims[] = {
    {.id = NULL},
};
