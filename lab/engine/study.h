/*
 * Experiments that are not tables of configurations (lab.h): times, memory, crawls over several epochs, searches. And
 * what every experiment comes to in the end, whichever sort it is: a table of entries.
 *
 *   study    rows and columns; a run gives one number for each cell; each cell is judged by a function of the study
 *   entry    a cell with what was published, theory, the measurement and its interval, the verdict and a remark
 *   table    the entries of an experiment, with what a reader has to know
 *   claim    a sentence of a paper, judged by what the tables have
 *
 * As with configurations: what is random in a run follows from (seed, run) alone, except times; and what was published
 * takes no part in measuring.
 */
#ifndef VIDI_LAB_ENGINE_STUDY_H
#define VIDI_LAB_ENGINE_STUDY_H

#include "lab/engine/lab.h"

/* ---- tables ---- */

enum { LAB_REMARK_ROOM = 256 };

/* NAN: there is none. */
typedef struct lab_entry {
    const char *row, *column;
    const char *printed; /* what was published, to the letter; NULL: nothing */
    double published, theory, measured, low, high;
    uint64_t runs;
    double z; /* from theory; NAN: not by a test */
    lab_verdict verdict;
    char remark[LAB_REMARK_ROOM]; /* empty, or a sentence without its full stop */
} lab_entry;

typedef struct lab_table {
    const char *id, *title, *source, *note, *unit;
    lab_plot plot;
    lab_entry *entries; /* row by row */
    size_t rows, columns;
    char *remarks; /* on the table as a whole, a line each; NULL: none */
} lab_table;

/* lab_table_free in every case. The findings of an experiment, in its order. */
int lab_table_of_findings(lab_table *table, const lab_results *results, const lab_finding *findings, size_t first,
                          size_t count);
void lab_table_free(lab_table *table);

/* An entry by the names of its row and column; NULL: there is none. */
const lab_entry *lab_table_find(const lab_table *table, const char *row, const char *column);

/* ---- studies ---- */

typedef struct lab_study lab_study;
typedef struct lab_numbers lab_numbers;

/* One number a cell, [row * columns + column]; NAN: there is no such cell. */
typedef int lab_measure_run(const lab_settings *settings, uint64_t run, double *numbers);

/*
 * Fills in theory, printed, published, verdict and remark of a cell. The entry has its names, the number of runs, and
 * measured, low and high: mean and 95 % interval of the mean, or of timed studies median, least and greatest. They may
 * be changed. numbers: of this cell, [run].
 */
typedef void lab_judge_entry(const lab_study *study, const lab_settings *settings, size_t row, size_t column,
                             const double *numbers, lab_entry *entry);

/* The same for cells whose theory is a figure of the same run: sees the numbers of all cells. */
typedef void lab_judge_entry_beside(const lab_numbers *all, size_t row, size_t column, const double *numbers,
                                    lab_entry *entry);

struct lab_study {
    const char *id, *title, *source, *note, *unit;
    const char *const *rows, *const *columns; /* names; NULL after the last */
    bool timed;                               /* nothing else may run beside it */
    uint64_t runs_most;                       /* more would tell nothing more; 0: any number */
    const char *needs; /* hash functions that not every build has, with '+' between; NULL: none */
    double work;       /* seconds that a run of 1e6 URLs takes, roughly, for the time left; 0: one */
    lab_plot plot;
    lab_measure_run *measure;
    lab_judge_entry *judge; /* both NULL: there is nothing to hold it against */
    lab_judge_entry_beside *judge_beside;
};

/* In the order of the papers; NULL after the last. */
const lab_study *lab_study_at(size_t index);
const lab_study *lab_study_find(const char *id);

size_t lab_study_rows(const lab_study *study);
size_t lab_study_columns(const lab_study *study);

/* All numbers of all runs: [run * cells + cell]. */
struct lab_numbers {
    const lab_study *study;
    lab_settings settings; /* runs: those that there were */
    double *numbers;
};

/* Are the functions that it needs in this build? If not, it has no runs, and its verdicts are `not built`. */
bool lab_study_built(const lab_study *study);
uint64_t lab_study_runs(const lab_study *study, uint64_t runs);              /* how many of so many it has */
double lab_study_work(const lab_study *study, const lab_settings *settings); /* of each: workers.h */

/* lab_numbers_free and lab_table_free in every case. */
int lab_study_measure(lab_numbers *numbers, const lab_study *study, const lab_settings *settings);
void lab_numbers_free(lab_numbers *numbers);
int lab_table_of_numbers(lab_table *table, const lab_numbers *all);

/* ---- for judging ---- */

/*
 * Counts (`numbers`, of the entry's runs) against theory, which is that of one run. Fills in z, fails if it is beyond
 * LAB_Z_MOST, and puts measured, low, high and theory as shares of what was asked, in `unit` (100: per cent). The
 * second takes the sum of all runs.
 */
void lab_entry_count(lab_entry *entry, const double *numbers, lab_theory theory, double unit);
void lab_entry_sum(lab_entry *entry, double sum, lab_theory theory, double unit);

/* The measured value and its interval in another unit, where there is no theory. */
void lab_entry_scale(lab_entry *entry, double factor);

/* The standard deviation of what was measured, from its interval of 95 %. */
double lab_entry_spread(const lab_entry *entry);

/*
 * What was published, from lab/published; the verdict is `agrees` if it is within `tolerance` (0.1: a tenth) of what
 * was measured, or of theory where there is one; otherwise `differs`. The remark is for the caller.
 */
void lab_entry_published(lab_entry *entry, const lab_study *study, double tolerance);

/* ---- for measuring ---- */

/* A part of settings->urls, so that an experiment takes seconds; but at least so many, if there are as many. */
uint64_t lab_urls_part(const lab_settings *settings, uint64_t part, uint64_t least);

/* The URL as a vidi_str in the caller's buffer of LAB_URL_ROOM. */
vidi_str lab_url_text(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index);

/* A set of that kind with the run's key, without canonical form. */
int lab_set_make(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, const char *params,
                 uint64_t capacity);

/* The same with options of the caller's: sets their key and canon. */
int lab_set_make_with(vidi_set **set, const lab_settings *settings, uint64_t run, vidi_options options);

/* Nanoseconds of this thread's processor time, and of the clock on the wall. */
uint64_t lab_thread_time(void);
uint64_t lab_wall_time(void);

/* ---- books ---- */

/* Everything that was measured together. */
typedef struct lab_book {
    lab_settings settings;
    lab_tally tally;
    lab_table *tables; /* in the order of the papers */
    size_t count;
    lab_results results; /* raw figures of configurations, */
    lab_finding *findings;
    size_t finding_count;
    lab_numbers *numbers; /* and of studies */
    size_t study_count;
} lab_book;

/*
 * The experiments that are named, or all if none is; unknown names are the caller's business. Cells that this build
 * cannot measure are left out, and their verdict says so. lab_book_free in every case.
 */
int lab_book_measure(lab_book *book, const char *const *ids, size_t count, const lab_settings *settings);

/* One configuration, as a table of one cell. */
int lab_book_measure_cell(lab_book *book, const lab_config *config, const lab_settings *settings);

void lab_book_free(lab_book *book);

/* Different cells that were tested against theory, all together. No memory: cells is 0. */
lab_family_test lab_book_judge(const lab_book *book);

const lab_table *lab_book_find(const lab_book *book, const char *id);

/* A cell that was measured; NULL: there is none. */
const lab_entry *lab_book_entry(const lab_book *book, const char *id, const char *row, const char *column);

/* What was measured there; NAN if the table or the cell is not there: then a claim stays unjudged. */
double lab_book_measured(const lab_book *book, const char *id, const char *row, const char *column);

/* ---- claims ---- */

typedef enum lab_holding { LAB_UNJUDGED, LAB_HOLDS, LAB_CONDITIONS, LAB_DOES_NOT_HOLD } lab_holding;

const char *lab_holding_name(lab_holding holding);

/* Says why in one sentence, without its full stop, with figures from the book. */
typedef lab_holding lab_claim_judge(const lab_book *book, char *sentence, size_t room);

typedef struct lab_claim {
    const char *id, *source; /* the paper and its section */
    const char *text;        /* what it says, in our words: a sentence without its full stop */
    const char *evidence;    /* identifiers of tables, with spaces between */
    lab_claim_judge *judge;
} lab_claim;

/* NULL after the last. */
const lab_claim *lab_claim_at(size_t index);

/* Each ends with one that has no id. */
extern const lab_study lab_thesis_costs[];   /* costs_experiments.c: memory and times of the thesis */
extern const lab_study lab_thesis_further[]; /* further_experiments.c: its further work */
extern const lab_study lab_layers[];         /* layers_experiments.c: the multi-layer paper */
extern const lab_study lab_notes[];          /* notes_experiments.c: the counting notes */
extern const lab_study lab_eigen[];          /* eigen_experiments.c: the eigenvalue paper */
extern const lab_study lab_kinds[];          /* kinds_experiments.c: all kinds at equal memory, and over time */

extern const lab_claim lab_thesis_claims[];
extern const lab_claim lab_layers_claims[];
extern const lab_claim lab_notes_claims[];
extern const lab_claim lab_eigen_claims[];
extern const lab_claim lab_kinds_claims[];

#endif
