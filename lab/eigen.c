/* Experiments: the eigenvalue paper. */
#include "lab/study.h"

const lab_study lab_eigen[] = {
    {.id = NULL},
};

const lab_claim lab_eigen_claims[] = {
    {.id = NULL},
};
