/* All cells of all experiments that this build can measure, for the lab's tests. */
#ifndef TESTS_LAB_CELLS_H
#define TESTS_LAB_CELLS_H

#include "lab/engine/lab.h"
#include "support/check.h"

enum { CELLS_MAX = 1024 };

static inline size_t all_cells(lab_config *configs)
{
    const lab_experiment *experiment;
    size_t count = 0;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        for (size_t row = 0; row < lab_lines(experiment->rows); row++)
            for (size_t column = 0; column < lab_lines(experiment->columns); column++) {
                check(count < CELLS_MAX, "more than %d cells", CELLS_MAX);
                configs[count] = lab_cell_config(experiment, row, column);
                count += lab_config_built(&configs[count]);
            }
    return count;
}

/* Measures, or fails the test. */
static inline lab_results measure(const lab_config *configs, size_t count, const lab_settings *settings)
{
    lab_results results;
    int code = lab_measure(&results, configs, count, settings);
    check(code == 0, "measuring: %s", vidi_message());
    return results;
}

#endif
