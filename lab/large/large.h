/* Filters of many URLs: what lab/large offers its list of experiments. See large_lost.c. */
#ifndef VIDI_LAB_LARGE_LARGE_H
#define VIDI_LAB_LARGE_LARGE_H

#include "lab/engine/study.h"

extern const char *const lab_large_rows[], *const lab_large_columns[];

lab_measure_run lab_large_measure;
lab_judge_entry lab_large_judge;

#endif
