/*
 * The lab repeats the papers' experiments with our filters and compares the results with theory and with the published
 * figures.
 *
 *   configuration   what one cell of a table measures: hash functions, k, M, filters, crawls, incremental or not
 *   experiment      a table of the papers; a row and a column together make a configuration
 *   run             inserts n new URLs and looks up n others, with new salts: one whole number for each configuration
 *   finding         a cell with the published figure, theory, the measurement and the verdicts
 *
 * Everything random follows from (seed, run) alone. So the same seed gives the same numbers, however many threads there
 * are and whichever cells are measured together. The published figures play no part in measuring.
 *
 * Functions that return int return 0, a negative code of the library with vidi_message(), or LAB_STOPPED.
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

/* Returns the code and keeps the sentence for vidi_message(). */
int lab_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Passes a negative code on. */
#define LAB_TRY(expression)                                                                                            \
    do {                                                                                                               \
        int lab_code = (expression);                                                                                   \
        if (lab_code < 0)                                                                                              \
            return lab_code;                                                                                           \
    } while (0)

/* ---- settings ---- */

enum { LAB_STOPPED = -100 }; /* *settings->stop became true */

/* Deliberate faults, for tests: the figures must move to where theory says. */
enum lab_fault {
    LAB_SOUND,
    LAB_SAME_SALTS, /* every epoch and member has the same salts */
    LAB_WEAK_HASH,  /* every value is even */
    LAB_DROPPED_BIT /* lookups ignore the last bit */
};

typedef struct lab_corpus lab_corpus;
typedef struct lab_streams lab_streams; /* line_streams.h */
struct lab_study;                       /* study.h */
typedef struct lab_graph lab_graph;     /* link_graph.h */

/* Progress of everything measured in this run of the program. */
typedef struct lab_tally {
    uint64_t done, runs;
    double work_done, work; /* of this process, in roughly estimated seconds; kept runs need none */
} lab_tally;

typedef struct lab_settings {
    uint64_t urls, runs, seed; /* runs: at most */
    double precision; /* runs are enough once 95 % intervals are within this share of a value; 0: all are made */
    unsigned threads;
    const lab_corpus *corpus;   /* NULL: synthetic URLs */
    const lab_streams *streams; /* for studies of streams; NULL: none */
    const lab_graph *graph;     /* a link graph from files; NULL: none */
    enum lab_fault fault;
    lab_keep *keep;          /* where finished runs are kept; NULL: nowhere */
    uint64_t part;           /* number of the measurement that they belong to */
    const atomic_bool *stop; /* measuring ends soon once it is true; may be NULL */
    lab_tally *tally;        /* of the whole book, which sets it; NULL: each measurement counts its own */
    void (*progress)(void *context, const lab_tally *tally); /* called by one thread at a time; may be NULL */
    void *context;
    /*
     * Makes a run of a timed study in a process of its own, with these settings, and fills in its numbers. The layout
     * of a process in memory changes times by a tenth, so times of one process tell too little. NULL: all runs are made
     * in this process.
     */
    int (*run_apart)(void *context, const struct lab_study *study, const struct lab_settings *settings, uint64_t run,
                     double *numbers);
    void *apart_context;
} lab_settings;

static inline bool lab_stopped(const lab_settings *settings)
{
    return settings->stop && atomic_load(settings->stop);
}

/* ---- URLs ---- */

enum { LAB_URL_ROOM = 256 }; /* no URL is longer */

/*
 * Writes URL number `index` of a run, without a final zero byte, and returns its length. All URLs of a run are
 * different; after the end of a corpus its URLs are used again with a suffix.
 */
size_t lab_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index);

/* The synthetic URLs, whether there is a corpus or not. */
size_t lab_made_url(char *buffer, uint64_t seed, uint64_t run, uint64_t index);

/* The number that everything random in a run starts from. */
uint64_t lab_run_start(uint64_t seed, uint64_t run);

/*
 * URLs from files, one a line, each kept once. Lines that are empty, longer than LAB_CORPUS_LONGEST, or contain
 * LAB_CORPUS_AGAIN are skipped. Every run takes the URLs in a different order. The names of the files are kept for
 * reports. Call lab_corpus_end after the last line: it fails if there are no URLs. Call lab_corpus_free in every case,
 * also after an error; NULL is fine.
 */
#define LAB_CORPUS_AGAIN "?vidi-lab-again="
enum { LAB_CORPUS_LONGEST = LAB_URL_ROOM - 40 };

int lab_corpus_make(lab_corpus **made, const char *const *files, size_t count);
int lab_corpus_add(lab_corpus *corpus, vidi_str line);
int lab_corpus_end(lab_corpus *corpus);
void lab_corpus_free(lab_corpus *corpus);
uint64_t lab_corpus_count(const lab_corpus *corpus);
/* Fails if runs of so many URLs need more than the corpus has. */
int lab_corpus_suffices(const lab_corpus *corpus, uint64_t urls, uint64_t needed);
uint64_t lab_corpus_mark(const lab_corpus *corpus);                  /* a hash of the whole corpus */
const char *lab_corpus_file(const lab_corpus *corpus, size_t index); /* its name as given; NULL after the last */
size_t lab_corpus_url(char *buffer, const lab_corpus *corpus, uint64_t start, uint64_t index);

/*
 * A link graph from files: a page, a tab and one of its links on each line (link_graph.c). Call lab_graph_end after the
 * last line: it fails if there are no links. Call lab_graph_free in every case; NULL is fine.
 */
int lab_graph_make(lab_graph **made, const char *const *files, size_t count);
int lab_graph_add(lab_graph *graph, vidi_str line);
int lab_graph_end(lab_graph *graph);
void lab_graph_free(lab_graph *graph);
uint64_t lab_graph_mark(const lab_graph *graph);                  /* a hash of the whole graph */
const char *lab_graph_file(const lab_graph *graph, size_t index); /* its name as given; NULL after the last */

/* The key of the sets of a run. */
void lab_key(unsigned char key[VIDI_KEY_BYTES], uint64_t seed, uint64_t run);

/* The order in which a later crawl meets a run's first n URLs: 1 is the second crawl. Each crawl has its own. */
void lab_shuffle(uint32_t *order, uint64_t n, uint64_t seed, uint64_t run, unsigned crawl);

/* ---- what is measured ---- */

enum { LAB_K_MAX = 64, LAB_MEMBERS_MAX = 8, LAB_EPOCHS_MAX = 4, LAB_TENTHS = 10 };

/* In rows and columns, 0 and NULL leave a field open. */
typedef struct lab_config {
    const char *functions; /* "jenkins": salted; "jenkins+murmur2": different ones without salts; see below for '|' */
    unsigned k;            /* bits for each URL */
    double multiplier;     /* M in m = n k M */
    unsigned members;      /* filters that must all answer "seen": the spatial strategy */
    unsigned epochs;       /* crawls that must all lose a URL: the temporal strategy */
    bool incremental;      /* URLs are looked up while the filter fills; otherwise others are, when it is full */
    bool shuffled;         /* incremental: each later crawl meets the URLs in an order of its own */
    unsigned tenths;       /* incremental: only so many tenths of the URLs count, from the first on */
    const char *kind;      /* used instead of classic or spatial: counting */
    bool deletes;          /* half as many other URLs were inserted too, and removed again */
    double bits;           /* m/n, instead of M; complete configurations have M */
} lab_config;

typedef struct lab_line {
    const char *name;
    lab_config part;
} lab_line;

/* How a table is drawn: either its rows or its columns are curves, and the others are the points on them. */
typedef struct lab_plot {
    const char *x, *y;   /* labels of the axes; NULL: it is not drawn */
    bool columns;        /* columns are curves; otherwise rows are */
    bool log_x, log_y;   /* scales */
    const double *along; /* x of each point; NULL: the first number in the name of the row or column */
} lab_plot;

typedef struct lab_experiment {
    const char *id, *title, *source, *note;
    lab_plot plot;
    lab_config base;
    const lab_line *rows, *columns; /* each list ends with a line without a name */
    bool repeats;                   /* an overview that repeats the figures of earlier tables */
} lab_experiment;

/* In the order of the papers; NULL after the last. */
const lab_experiment *lab_experiment_at(size_t index);
const lab_experiment *lab_experiment_find(const char *id);

size_t lab_lines(const lab_line *lines);

/* The complete configuration of a cell. */
lab_config lab_cell_config(const lab_experiment *experiment, size_t row, size_t column);

bool lab_config_same(const lab_config *a, const lab_config *b);

/*
 * The set that measures it through the public interface: returns its kind and writes its parameters. If every filter
 * has its own functions, there is one set for each filter: their parameters are separated by '|'. The sets of later
 * crawls are made by vidi_rotate, and those of several filters in a crawl are members (vidi_options.member).
 */
const char *lab_config_set(const lab_config *config, char *params, size_t room);

/*
 * The salts with which a run's set of this configuration hashes, in one filter of one epoch (crawl): one for each of
 * its k functions. There is room for LAB_K_MAX. Returns how many there are, 0 for functions without salts, or an error.
 */
enum { LAB_SALT_BYTES = 24 };
int lab_salts(const lab_config *config, const lab_settings *settings, uint64_t run, unsigned epoch, unsigned member,
              unsigned char (*salts)[LAB_SALT_BYTES]);

/* ---- hash functions of a configuration: functions.c ---- */

/*
 * Filters are numbered crawl by crawl, and the members of a crawl in their order. "jenkins|murmur2" gives the first
 * filter Jenkins's function and the second MurmurHash, each with the salts of its crawl and member. Without '|' all
 * filters have the same functions.
 */
enum { LAB_FUNCTIONS_ROOM = 96 };

unsigned lab_functions_lists(const char *functions); /* one more than there are '|' */

/* The functions of filter number `filter`, written to `names`, which is returned. */
const char *lab_functions_of(const lab_config *config, unsigned filter, char names[LAB_FUNCTIONS_ROOM]);

/* Of the functions of one filter: how many they are, and whether they are different ones without salts. */
unsigned lab_functions_count(const char *functions);
bool lab_functions_unsalted(const char *functions);

/* Whether this build has all of the functions. */
bool lab_functions_built(const char *functions);

/*
 * The largest number of functions that two filters have in common. Without salts such a function gives a URL the same
 * place in both filters, so they err together.
 */
unsigned lab_functions_kept(const lab_config *config);

/* ---- what was published ---- */

typedef struct lab_published {
    const char *experiment, *row, *column;
    const char *printed; /* exactly as printed */
} lab_published;

extern const lab_published lab_published_all[]; /* ends with an entry without an experiment */

/* The figure that `list` has for a cell; NULL: none. */
const char *lab_published_find(const lab_published *list, const char *experiment, const char *row, const char *column);

/* A printed figure: "0.3723%" is 0.3723, plus or minus 0.00005. */
typedef struct lab_figure {
    bool given;
    bool misspelt; /* not just a number and a per cent sign */
    double percent, half_unit;
} lab_figure;

lab_figure lab_figure_read(const char *printed);

/* ---- measuring ---- */

/* One filter of one configuration, in the raw figures of the runs. */
typedef struct lab_filter {
    unsigned epoch, member;
    size_t index; /* of its column in `marked` */
} lab_filter;

typedef struct lab_results {
    lab_settings settings;
    size_t cells, jobs, filters;
    size_t *job_of;        /* [cell]: equal configurations are one job; LAB_NO_JOB: not measured */
    uint64_t *runs_of;     /* [job]: its runs, from the first on; later ones of settings.runs leave it out */
    uint64_t *counts;      /* [run * jobs + job]: URLs falsely seen */
    uint64_t *marked;      /* [run * filters + filter]: bits set at the end */
    lab_filter *filter_of; /* [job * LAB_FILTERS_MAX + i] */
    unsigned *filters_of;  /* [job]: how many */
} lab_results;

enum { LAB_FILTERS_MAX = LAB_MEMBERS_MAX * LAB_EPOCHS_MAX };
#define LAB_NO_JOB SIZE_MAX

/* Whether this build has its hash functions. */
bool lab_config_built(const lab_config *config);

/* Measures all cells together: every URL is hashed once for each salt. Call lab_results_free in every case. */
int lab_measure(lab_results *results, const lab_config *cells, size_t count, const lab_settings *settings);
void lab_results_free(lab_results *results);

static inline uint64_t lab_count(const lab_results *results, uint64_t run, size_t cell)
{
    size_t job = results->job_of[cell];
    return job == LAB_NO_JOB ? 0 : results->counts[run * results->jobs + job];
}

static inline uint64_t lab_cell_runs(const lab_results *results, size_t cell)
{
    size_t job = results->job_of[cell];
    return job == LAB_NO_JOB ? 0 : results->runs_of[job];
}

uint64_t lab_total(const lab_results *results, size_t cell); /* of all its runs */

/* ---- how many runs ---- */

/*
 * The share of its value that the 95 % interval of a figure in this table may extend to either side: `precision`, or
 * less if a claim rests on the table, so that the claim can be judged within its margin.
 */
double lab_precision_of(const char *table, double precision);

/*
 * How many of settings->runs a configuration needs for its precision. Follows from theory alone, so chance has no part
 * in when measuring ends. Depends neither on what else is measured nor on how often the configuration occurs.
 */
uint64_t lab_config_runs(const lab_config *config, const lab_settings *settings);

/* "3 runs", or "at most 100 runs" if precision decides. */
enum { LAB_RUNS_ROOM = 48 };
const char *lab_runs_text(const lab_settings *settings, char text[LAB_RUNS_ROOM]);

/* ---- theory ---- */

/* Mean and variance of the number of URLs falsely seen in one run, and how many URLs were looked up. */
typedef struct lab_theory {
    double mean, variance, asked;
} lab_theory;

lab_theory lab_theory_of(const lab_config *config, uint64_t urls);

/* m = n k M in whole bits. Rounds up as the library does, which ignores rounding errors of the product. */
double lab_bits(double urls, double k, double multiplier);

/*
 * Filters with m bits, k hash functions and `urls` URLs each: how many URLs all of them falsely report as seen, among
 * as many others (first function), or among the URLs themselves while they are inserted (second function).
 */
lab_theory lab_filter_theory(uint64_t urls, double m, unsigned k, unsigned filters);
lab_theory lab_filling_theory(uint64_t urls, double m, unsigned k, unsigned filters);

/* The size of the intersection of two random subsets of `of` URLs, whose sizes have these means and variances. */
lab_theory lab_meeting_theory(lab_theory a, lab_theory b, double of);

/* The share of m bits that is set after `marks` random bits were set: mean, variance, and mean of its k-th power. */
typedef struct lab_fill {
    double mean, variance;
} lab_fill;

lab_fill lab_fill_after(double marks, double m);
double lab_fill_power(lab_fill fill, double k);

/* ---- verdicts ---- */

#define LAB_INTERVAL_Z 1.959963985 /* for 95 % intervals */
#define LAB_Z_MOST 4.1             /* a cell beyond it fails: p = 4e-5, so 1 % for about 240 cells */
#define LAB_Z_DOUBTFUL 3.0         /* a published figure beyond it is doubtful: one in 370 by chance */
#define LAB_FAMILY_ALPHA 0.01      /* for all cells together: the share of sound books that fail by chance */
#define LAB_FEW 100                /* smaller expected counts are judged with the exact Poisson distribution */
#define LAB_PUBLISHED_RUNS 100
#define LAB_PUBLISHED_URLS 1000000
#define LAB_TABLE_RUNS 20    /* runs from which a table is tested by chi-square */
#define LAB_TABLE_ALPHA 2e-4 /* a table fails if p is below this on either side */

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
void lab_judge_published(lab_finding *findings, size_t count);

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

/* ---- distributions ---- */

double lab_poisson_below(double mean, double count); /* P(X <= count) */
double lab_poisson_above(double mean, double count); /* P(X >= count) */
double lab_poisson_low(double count, double tail);   /* the mean for which P(X >= count) = tail */
double lab_poisson_high(double count, double tail);  /* the mean for which P(X <= count) = tail */
double lab_gamma_below(double shape, double x);      /* regularised lower incomplete gamma function */
double lab_normal_z(double below);                   /* the z below which this probability lies */
double lab_student_t(double tail, double freedom);   /* the t above which this probability lies, at most 0.5 */
double lab_student_above(double t, double freedom);  /* P(T >= t), t at least 0 */

double lab_median(double *numbers, size_t count); /* sorts the numbers; 0 if there are none */

#endif
