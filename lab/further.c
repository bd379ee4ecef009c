/* Experiments: the further work that the thesis proposes. */
#include "lab/study.h"

const lab_study lab_thesis_further[] = {
    {.id = NULL},
};
