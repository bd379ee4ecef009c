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
#include <stdlib.h>

#include "lab/engine/kept_runs.h"
#include "lab/judge/theory.h"
#include "lab/urls/url_sources.h"
#include "vidi/vidi.h"

/* ---- errors ---- */

/* Returns the code and keeps the sentence for vidi_message(). */
int lab_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Makes room for `needed` elements of `size` bytes, by half more at least. `list` is the address of the pointer to them;
 * without memory they stay as they are.
 */
int lab_grow(void *list, size_t needed, size_t *room, size_t size);

/* Passes a negative code on; other numbers, such as a count, are ignored. */
#define LAB_TRY(expression)                                                                                            \
    do {                                                                                                               \
        int64_t lab_code = (expression);                                                                               \
        if (lab_code < 0)                                                                                              \
            return (int)lab_code;                                                                                      \
    } while (0)

/*
 * Before the declaration of a variable: `release` gets its address when its block ends, however that happens. So
 * LAB_TRY may leave the block at any time, once the variable has a value that can be released.
 */
#define LAB_OWN(release) __attribute__((cleanup(release), unused))

static inline void lab_close(vidi_set **set)
{
    vidi_close(*set);
}

/* Of memory: the address of a pointer to it. */
static inline void lab_release(void *pointer)
{
    free(*(void **)pointer);
}

/* ---- settings ---- */

enum { LAB_STOPPED = -100 }; /* *settings->stop became true */

/* Deliberate faults, for tests: the figures must move to where theory says. */
enum lab_fault {
    LAB_SOUND,
    LAB_SAME_SALTS, /* every epoch and member has the same salts */
    LAB_WEAK_HASH,  /* every value is even */
    LAB_DROPPED_BIT /* lookups ignore the last bit */
};

typedef struct lab_streams lab_streams; /* line_streams.h */
struct lab_study;                       /* study.h */

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
    lab_keep *keep;                /* where finished runs are kept; NULL: nowhere */
    uint64_t part;                 /* number of the measurement that they belong to */
    const struct lab_study *study; /* that is measured; NULL: configurations are */
    const atomic_bool *stop;       /* measuring ends soon once it is true; may be NULL */
    lab_tally *tally;              /* of the whole book, which sets it; NULL: each measurement counts its own */
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
    unsigned tenths;       /* incremental: only the first tenths of the URLs count, this many */
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
    const lab_line *rows, *columns; /* each list ends with a line without a name */
    lab_config base;
    lab_plot plot;
    bool repeats; /* an overview that repeats the figures of earlier tables */
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

#define LAB_PUBLISHED_RUNS 100
#define LAB_PUBLISHED_URLS 1000000

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

#endif
