/* The experiments with many URLs. They are measured only if they are named: `make lab-large`. */
#include "lab/large/large.h"

const lab_study lab_large_studies[] = {
    {"large-lost", "False positives of filters with very many URLs", "vidi",
     "Made for --urls 1e8, and measured only if it is named. All URLs are inserted, then as many others are "
     "looked up; URLs are made on the fly. The configurations of the thesis have a hash function of 128 bits, "
     "because 32 bits are too few for such filters.",
     "%", lab_large_rows, lab_large_columns, .only_named = true, .work = 2, .measure = lab_large_measure,
     .judge = lab_large_judge},
    {.id = NULL},
};
