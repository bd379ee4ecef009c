/* Experiments: all kinds at equal memory, and over time. */
#include "lab/study.h"

const lab_study lab_kinds[] = {
    {.id = NULL},
};

const lab_claim lab_kinds_claims[] = {
    {.id = NULL},
};
