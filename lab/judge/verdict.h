/*
 * Verdicts: on our own figures, compared with theory, and on the published ones. A cell is judged alone, with its
 * table, and with all other cells.
 */
#ifndef VIDI_LAB_JUDGE_VERDICT_H
#define VIDI_LAB_JUDGE_VERDICT_H

#include "lab/engine/lab.h"

#define LAB_INTERVAL_Z 1.959963985 /* for 95 % intervals */
#define LAB_Z_MOST 4.1             /* a cell beyond it fails: p = 4e-5, so 1 % for about 240 cells */
#define LAB_Z_DOUBTFUL 3.0         /* a published figure beyond it is doubtful: one in 370 by chance */
#define LAB_FAMILY_ALPHA 0.01      /* for all cells together: the share of sound books that fail by chance */
#define LAB_FEW 100                /* smaller expected counts are judged with the exact Poisson distribution */
#define LAB_TABLE_RUNS 20          /* runs from which a table is tested by chi-square */
#define LAB_TABLE_ALPHA 2e-4       /* a table fails if p is below this on either side */

typedef enum lab_verdict {
    LAB_NO_FIGURE, /* no figure was published */
    LAB_AGREES,
    LAB_DEPENDENT, /* agrees only if the published runs were not independent, which they can be without salts */
    LAB_DOUBTFUL,  /* 3 to 4.1 standard deviations from theory */
    LAB_ANOMALOUS, /* more than that */
    LAB_MISPRINT,  /* an overview that differs from the table it repeats */
    LAB_DIFFERS,   /* differs from our measurement, where chance plays no part or an unknown one */
    LAB_NOT_BUILT, /* not measured, because this build lacks a hash function or a library */
    LAB_FAILS      /* our measurement contradicts theory; overrides the others */
} lab_verdict;

const char *lab_verdict_name(lab_verdict verdict);

/* A count over several runs compared with theory: the share with its 95 % interval. */
typedef struct lab_fit {
    double share, low, high, z;
    bool fits;
} lab_fit;

lab_fit lab_fit_of(double count, double runs, lab_theory theory);

/* Rates in per cent. */
typedef struct lab_finding {
    const lab_experiment *experiment; /* NULL: a cell that is in no table */
    const char *row, *column;
    lab_config config;
    const char *printed;  /* NULL: no figure */
    const char *original; /* the figure of the table that an overview repeats; NULL: none */
    lab_figure published;
    lab_theory expected; /* for one run of ours */
    double theory, measured, low, high;
    uint64_t runs, count;
    double z;           /* our distance from theory */
    bool fits;          /* our figure agrees with theory */
    double published_z; /* distance of the published figure from theory for independent runs, beyond rounding */
    double judged_z;    /* the same for the number of independent runs that the table's other figures suggest */
    double judged_runs; /* that number: 100 or less */
    bool repeated;      /* an overview shows the figure again, and its own table is in the book */
    lab_verdict verdict;
} lab_finding;

/*
 * Judges cell number `cell` of the results: a configuration with its figure (NULL: none), or a cell of an experiment.
 */
lab_finding lab_judge(const lab_config *config, const lab_results *results, size_t cell, const char *printed);
lab_finding lab_judge_cell(const lab_experiment *experiment, size_t row, size_t column, const lab_results *results,
                           size_t cell, const lab_published *list);

/*
 * Judges the published figures of a table again, each by the scatter of the others: if they scatter like 10 independent
 * runs and not like 100, this one may do so too. A figure's own distance plays no part in its scale.
 */
void lab_rejudge_by_scatter(lab_finding *findings, size_t count);

/* How many of `figures` published figures chance alone makes doubtful. */
double lab_doubtful_by_chance(double figures);

/* A sentence about what is unusual in a finding, or an empty string. */
void lab_remark(const lab_finding *finding, char *text, size_t room);

/* Tests a whole table, whose cells start at `first` in the results: fits that are too bad or too good both fail. */
typedef struct lab_table_test {
    bool tested; /* there were enough runs, and enough cells with large counts */
    size_t cells;
    double chi_square, freedom, p; /* p: probability of a smaller chi-square */
    bool fits;
} lab_table_test;

lab_table_test lab_judge_table(const lab_results *results, const lab_finding *findings, size_t first, size_t count);

/* How the published figures of a table scatter around theory, beyond their rounding. */
typedef struct lab_scatter {
    size_t cells;
    double chi_square, p; /* p: probability of at least as much, if runs and cells are independent */
    double runs;          /* the number of independent runs with this scatter, instead of 100 */
    bool fits;
} lab_scatter;

lab_scatter lab_judge_scatter(const lab_finding *findings, size_t count);

/*
 * Tests all distinct cells together with Holm's procedure: if all cells are sound, it rejects any of them with a
 * probability of at most 1 %, however they depend on one another.
 */
typedef struct lab_family_test {
    size_t cells, beyond; /* beyond: how many contradict theory */
    double largest;       /* |z| */
    double bound;         /* the largest |z| that is still accepted */
} lab_family_test;

/* Sorts z. */
lab_family_test lab_judge_family(double *z, size_t count);

#endif
