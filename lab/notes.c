/* Experiments: the counting notes. */
#include "lab/study.h"

const lab_study lab_notes[] = {
    {.id = NULL},
};

const lab_claim lab_notes_claims[] = {
    {.id = NULL},
};
