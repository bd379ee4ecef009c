/*
 * The lab: the papers' experiments, run again on our filters, beside the published figures and beside theory.
 *
 *   configuration   what one cell of a table measures: hash functions, k, M, filters, crawls, incremental or not
 *   experiment      a table of the papers: rows and columns, whose parts together make configurations
 *   run             n new URLs go in, n others are asked, with new salts; gives one whole number a configuration
 *   finding         a cell with what was published, what theory says, what was measured, and the verdicts
 *
 * Everything that is random follows from (seed, run) alone. So the same seed gives the same numbers, whatever the
 * number of threads and whichever cells are measured together; and the published figures take no part in measuring.
 *
 * Functions that return int: 0, or a negative code of the library with vidi_message; or LAB_STOPPED.
 */
#ifndef VIDI_LAB_ENGINE_LAB_H
#define VIDI_LAB_ENGINE_LAB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lab/engine/kept_runs.h"
#include "vidi/vidi.h"

/* ---- errors ---- */

/* Returns the code, and makes the sentence what vidi_message says. */
int lab_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Passes a negative code on. */
#define LAB_TRY(expression)                                                                                            \
    do {                                                                                                               \
        int lab_code = (expression);                                                                                   \
        if (lab_code < 0)                                                                                              \
            return lab_code;                                                                                           \
    } while (0)

/* ---- settings ---- */

enum { LAB_STOPPED = -100 }; /* somebody asked for it */

/* Deliberate faults, for tests: what comes out must move to where theory says. */
enum lab_fault {
    LAB_SOUND,
    LAB_SAME_SALTS, /* every epoch and member has the same */
    LAB_WEAK_HASH,  /* every value is even */
    LAB_DROPPED_BIT /* the last position is not looked at */
};

typedef struct lab_corpus lab_corpus;

/* How far all is that is measured together. */
typedef struct lab_tally {
    uint64_t done, runs;
    double work_done, work; /* of this process, in seconds by a rough guess: what was kept needs no time */
} lab_tally;

typedef struct lab_settings {
    uint64_t urls, runs, seed;
    unsigned threads;
    const lab_corpus *corpus; /* NULL: synthetic URLs */
    enum lab_fault fault;
    lab_keep *keep;          /* where finished runs are kept; NULL: nowhere */
    uint64_t part;           /* as what */
    const atomic_bool *stop; /* measuring ends soon once it is true; may be NULL */
    lab_tally *tally;        /* of the whole book, which sets it; NULL: each measurement counts for itself */
    void (*progress)(void *context, const lab_tally *tally); /* by one thread at a time; may be NULL */
    void *context;
} lab_settings;

static inline bool lab_stopped(const lab_settings *settings)
{
    return settings->stop && atomic_load(settings->stop);
}

/* ---- URLs ---- */

enum { LAB_URL_ROOM = 256 }; /* no URL is longer */

/*
 * URL `index` of a run: all of one run are different, also beyond the end of a corpus, where its URLs come again with
 * an addition. Writes no final zero byte; the length.
 */
size_t lab_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index);

/* The synthetic URLs, whether there is a corpus or not. */
size_t lab_made_url(char *buffer, uint64_t seed, uint64_t run, uint64_t index);

/* A number that is a run's own, for all that is random in it. */
uint64_t lab_run_start(uint64_t seed, uint64_t run);

/*
 * URLs from files, line by line, each once. Lines that are empty or longer than LAB_CORPUS_LONGEST, or have
 * LAB_CORPUS_AGAIN in them, are left out. A run takes them in an order of its own. Names of files are for those who
 * want to know where the URLs come from. lab_corpus_end after the last line; it is an error if there are no URLs.
 * lab_corpus_free in every case; it takes NULL, too.
 */
#define LAB_CORPUS_AGAIN "?vidi-lab-again="
enum { LAB_CORPUS_LONGEST = LAB_URL_ROOM - 40 };

int lab_corpus_make(lab_corpus **made, const char *const *files, size_t count);
int lab_corpus_add(lab_corpus *corpus, vidi_str line);
int lab_corpus_end(lab_corpus *corpus);
void lab_corpus_free(lab_corpus *corpus);
uint64_t lab_corpus_count(const lab_corpus *corpus);
/* An error if runs of so many URLs need more than there are. */
int lab_corpus_suffices(const lab_corpus *corpus, uint64_t urls, uint64_t needed);
uint64_t lab_corpus_mark(const lab_corpus *corpus);                  /* a hash of all of it */
const char *lab_corpus_file(const lab_corpus *corpus, size_t index); /* as they were named; NULL after the last */
size_t lab_corpus_url(char *buffer, const lab_corpus *corpus, uint64_t start, uint64_t index);

/* The key that the sets of a run are made with. */
void lab_key(unsigned char key[VIDI_KEY_BYTES], uint64_t seed, uint64_t run);

/* The second order of a run's first n URLs. */
void lab_shuffle(uint32_t *order, uint64_t n, uint64_t seed, uint64_t run);

/* ---- what is measured ---- */

enum { LAB_MEMBERS_MAX = 8, LAB_EPOCHS_MAX = 4, LAB_TENTHS = 10 };

/* In rows and columns 0 and NULL mean: says nothing of it. */
typedef struct lab_config {
    const char *functions; /* "jenkins", salted; "jenkins+murmur2": different functions without salts */
    unsigned k;            /* positions a URL */
    double multiplier;     /* M in m = n k M */
    unsigned members;      /* filters that have to say "seen" all together: the spatial strategy */
    unsigned epochs;       /* crawls that have to lose a URL: the temporal strategy */
    bool incremental;      /* asked before it goes in, while the filter fills; otherwise others, when it is full */
    bool shuffled;         /* incremental: later crawls meet the URLs in another order */
    unsigned tenths;       /* incremental: only the first so many tenths of the URLs count */
    const char *kind;      /* instead of classic and spatial: counting */
    bool deletes;          /* half as many others went in as well, and were deleted again */
    double bits;           /* m/n, in place of M; complete configurations have M */
} lab_config;

typedef struct lab_line {
    const char *name;
    lab_config part;
} lab_line;

/* How a table is drawn: its rows or its columns are curves, and the others the points on them. */
typedef struct lab_plot {
    const char *x, *y;   /* what the axes say; NULL: it is not drawn */
    bool columns;        /* curves are columns; otherwise rows */
    bool log_x, log_y;   /* scales */
    const double *along; /* x of each point; NULL: the first number in the name of the row or column */
} lab_plot;

typedef struct lab_experiment {
    const char *id, *title, *source, *note;
    lab_plot plot;
    lab_config base;
    const lab_line *rows, *columns; /* each ends with one that has no name */
    bool repeats;                   /* an overview of tables before it: its figures are theirs */
} lab_experiment;

/* In the order of the papers; NULL after the last. */
const lab_experiment *lab_experiment_at(size_t index);
const lab_experiment *lab_experiment_find(const char *id);

size_t lab_lines(const lab_line *lines);

/* The cell's configuration, complete. */
lab_config lab_cell_config(const lab_experiment *experiment, size_t row, size_t column);

bool lab_config_same(const lab_config *a, const lab_config *b);

/* The set that measures it, for the public interface: kind "classic" or "spatial", and its parameters. */
const char *lab_config_set(const lab_config *config, char *params, size_t room);

/* ---- what was published ---- */

typedef struct lab_published {
    const char *experiment, *row, *column;
    const char *printed; /* to the letter */
} lab_published;

extern const lab_published lab_published_all[]; /* ends with one of no experiment */

/* What `list` has for a cell; NULL: nothing. */
const char *lab_published_find(const lab_published *list, const char *experiment, const char *row, const char *column);

/* A printed figure: "0.3723%" is 0.3723 give or take 0.00005. */
typedef struct lab_figure {
    bool given;
    bool misspelt; /* something but a number and a per cent sign */
    double percent, half_unit;
} lab_figure;

lab_figure lab_figure_read(const char *printed);

/* ---- measuring ---- */

/* One filter of one configuration in the runs' raw figures. */
typedef struct lab_filter {
    unsigned epoch, member;
    size_t index; /* of its column in `marked` */
} lab_filter;

typedef struct lab_results {
    lab_settings settings;
    size_t cells, jobs, filters;
    size_t *job_of;        /* [cell]: equal configurations are one job; LAB_NO_JOB: not measured */
    uint64_t *counts;      /* [run * jobs + job]: falsely seen */
    uint64_t *marked;      /* [run * filters + filter]: bits that were marked in the end */
    lab_filter *filter_of; /* [job * LAB_FILTERS_MAX + i] */
    unsigned *filters_of;  /* [job]: how many */
} lab_results;

enum { LAB_FILTERS_MAX = LAB_MEMBERS_MAX * LAB_EPOCHS_MAX };
#define LAB_NO_JOB SIZE_MAX

/* Does this build have its hash functions? */
bool lab_config_built(const lab_config *config);

/* Measures all cells at once: every URL is hashed once for each salt. lab_results_free in every case. */
int lab_measure(lab_results *results, const lab_config *cells, size_t count, const lab_settings *settings);
void lab_results_free(lab_results *results);

static inline uint64_t lab_count(const lab_results *results, uint64_t run, size_t cell)
{
    size_t job = results->job_of[cell];
    return job == LAB_NO_JOB ? 0 : results->counts[run * results->jobs + job];
}

uint64_t lab_total(const lab_results *results, size_t cell);

/* ---- theory ---- */

/* Of the number of false "seen" in one run: its mean and variance, and of how many URLs. */
typedef struct lab_theory {
    double mean, variance, asked;
} lab_theory;

lab_theory lab_theory_of(const lab_config *config, uint64_t urls);

/* m = n k M in whole bits, as the library rounds it up: not for what a product of fractions is off by. */
double lab_bits(double urls, double k, double multiplier);

/*
 * Of filters with m bits and k positions and so many URLs in them: false "seen" by all of them, among as many others,
 * or among the URLs themselves while they go in.
 */
lab_theory lab_filter_theory(uint64_t urls, double m, unsigned k, unsigned filters);
lab_theory lab_filling_theory(uint64_t urls, double m, unsigned k, unsigned filters);

/* Random sets out of `of` URLs, with sizes of those means and variances: how many URLs are in both. */
lab_theory lab_meeting_theory(lab_theory a, lab_theory b, double of);

/* Mean and variance of the share of m bits that is marked after so many marks; and the mean of its k-th power. */
typedef struct lab_fill {
    double mean, variance;
} lab_fill;

lab_fill lab_fill_after(double marks, double m);
double lab_fill_power(lab_fill fill, double k);

/* ---- verdicts ---- */

#define LAB_INTERVAL_Z 1.959963985 /* intervals are of 95 % */
#define LAB_Z_MOST 4.1             /* beyond it a cell fails: 4e-5, so 1 % for some 240 cells */
#define LAB_FAMILY_ALPHA 0.01      /* of all cells together: so many sound books have something against them */
#define LAB_FEW 100                /* expected counts below are Poisson's and judged exactly */
#define LAB_PUBLISHED_RUNS 100
#define LAB_PUBLISHED_URLS 1000000
#define LAB_TABLE_RUNS 20    /* a table's chi-square needs so many runs */
#define LAB_TABLE_ALPHA 2e-4 /* and fails with less than this on either side */

typedef enum lab_verdict {
    LAB_NO_FIGURE, /* nothing was published */
    LAB_AGREES,
    LAB_DEPENDENT, /* agrees only if the published runs were not independent */
    LAB_ANOMALOUS,
    LAB_MISPRINT,  /* an overview that differs from its table */
    LAB_DIFFERS,   /* is not what was measured, where chance has no part in it or nobody knows which */
    LAB_NOT_BUILT, /* this build lacks a hash function: nothing was measured */
    LAB_FAILS      /* ours against theory: trumps the others */
} lab_verdict;

const char *lab_verdict_name(lab_verdict verdict);

/* A count of so many runs against theory: as a share with its 95 % interval. */
typedef struct lab_fit {
    double share, low, high, z;
    bool fits;
} lab_fit;

lab_fit lab_fit_of(double count, double runs, lab_theory theory);

/* Rates in per cent. */
typedef struct lab_finding {
    const lab_experiment *experiment; /* NULL: a cell off the tables */
    const char *row, *column;
    lab_config config;
    const char *printed;  /* NULL: nothing */
    const char *original; /* what the table has that an overview repeats; NULL: nothing */
    lab_figure published;
    lab_theory expected; /* of one run here */
    double theory, measured, low, high;
    uint64_t runs, count;
    double z;           /* ours against theory */
    bool fits;          /* ours does */
    double published_z; /* the figure against theory, for independent runs, beyond its rounding */
    lab_verdict verdict;
} lab_finding;

/* Cell number `cell` of the results: a configuration with a figure, or NULL; and a cell of an experiment. */
lab_finding lab_judge(const lab_config *config, const lab_results *results, size_t cell, const char *printed);
lab_finding lab_judge_cell(const lab_experiment *experiment, size_t row, size_t column, const lab_results *results,
                           size_t cell, const lab_published *list);

/* A sentence on what is odd about a finding, or an empty one. */
void lab_remark(const lab_finding *finding, char *text, size_t room);

/* A whole table, whose cells are `first` and so on of the results: too bad and too good are both against it. */
typedef struct lab_table_test {
    bool tested; /* enough runs, and cells with enough counts */
    size_t cells;
    double chi_square, freedom, p; /* p: to have less */
    bool fits;
} lab_table_test;

lab_table_test lab_judge_table(const lab_results *results, const lab_finding *findings, size_t first, size_t count);

/* How the published figures of a table scatter around theory, beyond their rounding. */
typedef struct lab_scatter {
    size_t cells;
    double chi_square, p; /* p: to have as much or more, if runs and cells are independent */
    double runs;          /* independent runs that would scatter so, instead of 100 */
    bool fits;
} lab_scatter;

lab_scatter lab_judge_scatter(const lab_finding *findings, size_t count);

/*
 * All different cells together. Holm's procedure: with probability 1 % or less it finds anything against cells that are
 * all sound, however they depend on one another.
 */
typedef struct lab_family_test {
    size_t cells, beyond; /* beyond: how many are against theory */
    double largest;       /* |z| */
    double bound;         /* the largest may be so much */
} lab_family_test;

/* Sorts the z. */
lab_family_test lab_judge_family(double *z, size_t count);

/* ---- distributions ---- */

double lab_poisson_below(double mean, double count); /* P(X <= count) */
double lab_poisson_above(double mean, double count); /* P(X >= count) */
double lab_poisson_low(double count, double tail);   /* the mean for which P(X >= count) = tail */
double lab_poisson_high(double count, double tail);  /* the mean for which P(X <= count) = tail */
double lab_gamma_below(double shape, double x);      /* regularised lower incomplete gamma function */
double lab_normal_z(double below);                   /* the z with so much probability below */

double lab_median(double *numbers, size_t count); /* sorts them; 0 if there are none */

#endif
