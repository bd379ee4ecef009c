/* Experiments: the multi-layer paper. */
#include "lab/study.h"

const lab_study lab_layers[] = {
    {.id = NULL},
};

const lab_claim lab_layers_claims[] = {
    {.id = NULL},
};
