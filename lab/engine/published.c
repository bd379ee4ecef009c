/* Published figures: finding that of a cell, and reading it as a number with the precision of its digits. */
#include "lab/engine/lab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *lab_published_find(const lab_published *list, const char *experiment, const char *row, const char *column)
{
    for (; list->experiment; list++)
        if (strcmp(list->experiment, experiment) == 0 && strcmp(list->row, row) == 0 &&
            strcmp(list->column, column) == 0)
            return list->printed;
    return NULL;
}

/*
 * Half a unit of the last digit. Zero is different: since one false positive in all runs is printed as 0.000001%, a
 * printed 0.0% means that there was none.
 */
static double half_unit(const char *digits, double value)
{
    const char *point = strchr(digits, '.');
    size_t decimals = point ? strspn(point + 1, "0123456789") : 0;
    if (!(value > 0))
        return 0.5 * 100 / (LAB_PUBLISHED_RUNS * (double)LAB_PUBLISHED_URLS);
    return 0.5 * pow(10, -(double)decimals);
}

lab_figure lab_figure_read(const char *printed)
{
    if (!printed)
        return (lab_figure){0};
    char *end;
    double value = strtod(printed, &end);
    if (end == printed)
        return (lab_figure){.misspelt = true};
    return (lab_figure){
        .given = true,
        .misspelt = strcmp(end, "%") != 0,
        .percent = value,
        .half_unit = half_unit(printed, value),
    };
}
