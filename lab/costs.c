/* Experiments: memory and times of the thesis. */
#include "lab/study.h"

const lab_study lab_thesis_costs[] = {
    {.id = NULL},
};
