/*
 * Experiments that are not tables of configurations (lab.h): times, memory, crawls over several epochs, searches. Also
 * the result of an experiment of either sort: a table of entries.
 *
 *   study    rows and columns; a run gives one number for each cell, and a function of the study judges each cell
 *   entry    a cell with the published figure, theory, the measurement and its interval, the verdict and a remark
 *   table    the entries of an experiment, with the notes that a reader needs
 *   claim    a sentence of a paper, judged by the figures in the tables
 *
 * As with configurations, everything random in a run follows from (seed, run) alone, except times, and the published
 * figures play no part in measuring.
 */
#ifndef VIDI_LAB_ENGINE_STUDY_H
#define VIDI_LAB_ENGINE_STUDY_H

#include "lab/engine/lab.h"
#include "lab/judge/verdict.h"

/* ---- tables ---- */

enum { LAB_REMARK_ROOM = 256 };

/* What the verdict on a published figure rests on. */
typedef enum lab_basis {
    LAB_NOT_JUDGED,
    LAB_BY_CHANCE,      /* the distribution of its runs */
    LAB_BY_TOLERANCE,   /* a relative difference that the table's note states */
    LAB_FITTED,         /* a number of ours was chosen to match the published figures, so agreement proves little */
    LAB_COUNTERFACTUAL, /* ours shows what the paper did not do: the figure counts in the table where it belongs */
    LAB_REPEATED,       /* the figure of another table again: it counts there */
    LAB_BASES
} lab_basis;

/* What the theory of an entry is. */
typedef enum lab_theory_sort {
    LAB_DERIVED, /* a formula or computation of the lab's own */
    LAB_BOUND,   /* an upper bound: smaller measurements agree with it */
    LAB_PLANNED  /* what the library itself predicts: agreement shows that it is consistent, not that it is right */
} lab_theory_sort;

/* NAN stands for a number that does not exist. */
typedef struct lab_entry {
    const char *row, *column;
    const char *printed; /* the published figure, exactly as printed; NULL: none */
    double published, theory, measured, low, high;
    lab_theory_sort theory_sort;
    uint64_t runs;
    double z; /* distance from theory in standard deviations; NAN: not tested */
    lab_verdict verdict;
    lab_basis basis;
    char remark[LAB_REMARK_ROOM]; /* a sentence without its full stop, or empty */
} lab_entry;

typedef struct lab_table {
    const char *id, *title, *source, *note, *unit;
    lab_plot plot;
    lab_entry *entries; /* row by row */
    size_t rows, columns;
    char *remarks; /* about the table as a whole, one a line; NULL: none */
} lab_table;

/* A table of the findings of an experiment, which must be in its order. Call lab_table_free in every case. */
int lab_table_of_findings(lab_table *table, const lab_results *results, const lab_finding *findings, size_t first,
                          size_t count);
void lab_table_free(lab_table *table);

/* Finds an entry by the names of its row and column; NULL if there is none. */
const lab_entry *lab_table_find(const lab_table *table, const char *row, const char *column);

/* ---- studies ---- */

typedef struct lab_study lab_study;
typedef struct lab_numbers lab_numbers;

/*
 * Measures one number for each cell, numbers[row * columns + column]; NAN: there is no such cell. The study is
 * settings->study.
 */
typedef int lab_measure_run(const lab_settings *settings, uint64_t run, double *numbers);

/* A cell of a study that was measured. */
typedef struct lab_cell {
    const lab_study *study;
    const lab_settings *settings; /* with the number of runs that were made */
    size_t row, column;
    const double *numbers;  /* [run]: of this cell */
    const lab_numbers *all; /* of all cells, for those whose theory is another figure of the same run */
} lab_cell;

/*
 * Fills in theory, printed, published, verdict and remark of a cell. The entry already has its names, the number of
 * runs, and measured, low and high: the mean with its 95 % interval or, in timed studies, median, minimum and maximum.
 * The function may change those.
 */
typedef void lab_judge_entry(const lab_cell *cell, lab_entry *entry);

struct lab_study {
    const char *id, *title, *source, *note, *unit;
    const char *const *rows, *const *columns; /* names; NULL after the last */
    bool streams;                             /* its rows are the streams of the settings (line_streams.h) */
    bool timed;                               /* nothing else may run at the same time */
    uint64_t runs_most;                       /* more runs would tell nothing new; 0: no limit */
    bool only_named;                          /* too long for a run of everything: measured only if it is named */
    const char *needs;                        /* hash functions that some builds lack, separated by '+'; NULL: none */
    bool (*has)(void);                        /* whether this build has what else it needs; NULL: it needs nothing */
    double work;                              /* estimated seconds for a run of 1e6 URLs, for the time left; 0: one */
    lab_plot plot;
    const void *with; /* for studies that share the functions of their file: what distinguishes them */
    lab_measure_run *measure;
    lab_judge_entry *judge; /* NULL: there is nothing to compare it with */
};

/* In the order of the papers; NULL after the last. */
const lab_study *lab_study_at(size_t index);
const lab_study *lab_study_find(const char *id);

size_t lab_study_rows(const lab_study *study);
size_t lab_study_columns(const lab_study *study);

/* All numbers of all runs: [run * cells + cell]. */
struct lab_numbers {
    const lab_study *study;
    lab_study *own;        /* the copy that `study` points to if its rows are streams; otherwise NULL */
    lab_settings settings; /* with the number of runs that were made */
    double *numbers;
};

/* Fails if it needs streams and the settings have none. */
int lab_study_ready(const lab_study *study, const lab_settings *settings);

/* Whether this build has what it needs. If not, it has no runs, and its verdicts are `not built`. */
bool lab_study_built(const lab_study *study);
uint64_t lab_study_runs(const lab_study *study, uint64_t runs);              /* how many of `runs` it makes */
double lab_study_work(const lab_study *study, const lab_settings *settings); /* of one run: lab_work in workers.h */

/*
 * The first LAB_FIRST_RUNS runs of a study tell how many of `most` all its cells need for the precision of its table.
 * Where a cell has a theory, it counts in place of the measurement, so that chance has little part in when measuring
 * ends.
 */
enum { LAB_FIRST_RUNS = 10 };
int lab_numbers_needed(const lab_numbers *first, uint64_t most, uint64_t *runs);

/* Call lab_numbers_free and lab_table_free in every case. */
int lab_study_measure(lab_numbers *numbers, const lab_study *study, const lab_settings *settings);
void lab_numbers_free(lab_numbers *numbers);
int lab_table_of_numbers(lab_table *table, const lab_numbers *all);

/* ---- for judging ---- */

#define LAB_PER_MILLION 1e6 /* the unit of pages lost or missed */

/*
 * Compares counts (`numbers`, one for each run) with theory, which is for one run. Sets z, the verdict LAB_FAILS if z
 * is beyond LAB_Z_MOST, and measured, low, high and theory as shares of the lookups in `unit` (100: per cent). The
 * second function takes the sum over all runs.
 */
void lab_entry_count(lab_entry *entry, const double *numbers, lab_theory theory, double unit);
void lab_entry_sum(lab_entry *entry, double sum, lab_theory theory, double unit);

/* Converts the measured value and its interval to another unit, where there is no theory. */
void lab_entry_scale(lab_entry *entry, double factor);

/* The standard deviation of the measurement, computed from its 95 % interval. */
double lab_entry_spread(const lab_entry *entry);

/*
 * Fills in the published figure from lab/published. The verdict is `agrees` if the figure is within `tolerance` (0.1: a
 * tenth) of theory, or of the measurement where there is no theory; otherwise `differs`. The caller writes the remark.
 */
void lab_entry_published(lab_entry *entry, const lab_study *study, double tolerance);

/* ---- for measuring ---- */

/*
 * settings->urls divided by `part`, so that an experiment takes seconds; at least `least`, or all if there are fewer.
 */
uint64_t lab_urls_part(const lab_settings *settings, uint64_t part, uint64_t least);

/* Writes the URL into a buffer of LAB_URL_ROOM bytes. */
vidi_str lab_url_text(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index);

/* A set with the run's key and canon "none". */
int lab_set_make(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, const char *params,
                 uint64_t capacity);

/* The same with the caller's options, of which it replaces key and canon. */
int lab_set_make_with(vidi_set **set, const lab_settings *settings, uint64_t run, vidi_options options);

/* Processor time of this thread in nanoseconds. */
uint64_t lab_thread_time(void);

/* ---- books ---- */

/* Everything that was measured together. */
typedef struct lab_book {
    lab_settings settings;
    lab_tally tally;
    lab_table *tables; /* in the order of the papers */
    size_t count;
    lab_results results; /* raw figures of the configurations */
    lab_finding *findings;
    size_t finding_count;
    lab_numbers *numbers; /* raw figures of the studies */
    size_t study_count;
} lab_book;

/*
 * Measures the named experiments. Without names, measures all but those that are measured only if they are named. The
 * caller must have checked the names. Cells that this build cannot measure are left out, and their verdict says so.
 * Call lab_book_free in every case.
 */
int lab_book_measure(lab_book *book, const char *const *ids, size_t count, const lab_settings *settings);

/* Measures one configuration: a book with one table of one cell. */
int lab_book_measure_cell(lab_book *book, const lab_config *config, const lab_settings *settings);

void lab_book_free(lab_book *book);

/* Tests all distinct cells together against theory. Without memory for it, `cells` is 0. */
lab_family_test lab_book_judge(const lab_book *book);

const lab_table *lab_book_find(const lab_book *book, const char *id);

/* A cell that was measured; NULL if there is none. */
const lab_entry *lab_book_entry(const lab_book *book, const char *id, const char *row, const char *column);

/* The measurement of a cell; NAN if the book lacks the table or the cell, in which case a claim stays unjudged. */
double lab_book_measured(const lab_book *book, const char *id, const char *row, const char *column);

/* ---- claims ---- */

/* LAB_UNJUDGED: too little was measured to tell. */
typedef enum lab_holding { LAB_UNJUDGED, LAB_HOLDS, LAB_CONDITIONS, LAB_DOES_NOT_HOLD } lab_holding;

const char *lab_holding_name(lab_holding holding);

typedef struct lab_claim lab_claim;

/*
 * Writes one sentence that says why, with figures from the book and without its full stop. If cells are missing from
 * the book, the sentence stays empty and the claim unjudged.
 */
typedef lab_holding lab_claim_judge(const lab_claim *claim, const lab_book *book, char *sentence, size_t room);

/* The usual margins. */
#define LAB_RATE_MARGIN 0.02
#define LAB_TIME_MARGIN 0.15

/* A rule: if some figures of the first test are as claimed and others are not, the claim holds with conditions. */
#define LAB_ALL_OR_SOME "a? open; a+ a- conditions; a- fails; holds"

enum { LAB_CLAIM_TESTS = 4 };

/* lab/judge/claim_rules.h explains the last fields, which are for claims without a function. */
struct lab_claim {
    const char *id, *source;   /* the paper and its section */
    const char *text;          /* the claim in our words: a sentence without its full stop */
    const char *evidence;      /* identifiers of tables, separated by spaces */
    lab_claim_judge *judge;    /* for claims that no rule describes; otherwise NULL */
    double margin;             /* differences up to this share count as none (judging.h) */
    const char *margin_reason; /* why this margin, for the report; NULL: one of the usual margins, or none */
    const char *cells, *tests[LAB_CLAIM_TESTS], *rule, *sentence;
    const char *provided; /* an expression without which it is not judged; NULL: none */
    uint64_t urls_least;  /* fewer URLs tell nothing */
    bool partial;         /* contests leave out pairs that the book lacks; otherwise all cells are needed */
};

lab_holding lab_claim_judged(const lab_claim *claim, const lab_book *book, char *sentence, size_t room);

/* NULL after the last. */
const lab_claim *lab_claim_at(size_t index);
const lab_claim *lab_claim_find(const char *id);

/* Copies the next table of a claim's evidence to `id` and moves *list past it; false after the last. */
enum { LAB_ID_ROOM = 64 };
bool lab_evidence_next(const char **list, char id[LAB_ID_ROOM]);

/*
 * All studies, in the order of the papers. Each is defined in the file that measures it, as lab_study_ and its id with
 * '_' for '-' and '.'.
 */
/* clang-format off */
#define LAB_STUDIES(X) \
    X(thesis_5_10) X(thesis_5_11) X(thesis_5_12) X(thesis_5_13) X(thesis_5_14) X(thesis_5_15) X(thesis_A_1) \
    X(thesis_A_2) X(thesis_A_3) X(thesis_A_1_break) X(thesis_A_2_break) X(thesis_A_3_break) X(thesis_A_2_inner) \
    X(thesis_A_3_inner) X(thesis_A_4) X(thesis_A_5) X(thesis_A_6) X(thesis_A_filters) X(thesis_hash_time) \
    X(thesis_salt_place) X(thesis_salt_place_time) \
    X(further_scalable) X(further_scalable_memory) X(further_revisit) X(further_delay) X(further_equal_bits) \
    X(further_equal_bits_time) X(further_genetic) X(further_genetic_time) X(further_processes) \
    X(further_processes_time) X(further_processes_messages) \
    X(multilayer_comparisons) X(multilayer_false) X(multilayer_query) X(multilayer_insert) X(multilayer_original) \
    X(multilayer_quarter) X(multilayer_slower) X(multilayer_formula) X(multilayer_addresses) X(multilayer_equal) \
    X(multilayer_space) X(multilayer_cross) X(multilayer_own) X(multilayer_program) X(multilayer_program_time) \
    X(counting_space) X(counting_counters) \
    X(eigen_fig_5) X(eigen_fig_5_oaat) X(eigen_asked) X(eigen_formulas) X(eigen_features) X(eigen_shifts) \
    X(eigen_similar) X(eigen_time) X(eigen_growth) X(eigen_database) X(eigen_database_space) \
    X(kinds_lost) X(kinds_expected) X(kinds_time) X(kinds_needs) X(kinds_growth) X(kinds_growth_bits) \
    X(kinds_recrawl) X(kinds_recrawl_all) X(kinds_delay) X(kinds_by_tenth) \
    X(revisits_churn_0) X(revisits_churn_1) X(revisits_churn_10) X(revisits_churn_50) X(revisits_4_bits) \
    X(revisits_16_bits) X(revisits_never) X(revisits_half) X(revisits_bytes) \
    X(streams_properties) X(streams_canon) X(streams_8) X(streams_16) X(streams_64) X(streams_8_shuffled) \
    X(streams_repeats) X(streams_memory) X(streams_by_tenth) \
    X(peers_check) X(peers_lost) X(peers_needs) X(peers_memory) X(peers_time) X(peers_speed) X(peers_abilities) \
    X(graph_properties) X(graph_by_tenth) X(graph_by_page) X(graph_locality) X(graph_popularity) X(graph_order) \
    X(graph_errors) X(graph_expected) \
    X(large_lost)
/* clang-format on */
#define LAB_STUDY_DECLARE(name) extern const lab_study lab_study_##name;
LAB_STUDIES(LAB_STUDY_DECLARE)
#undef LAB_STUDY_DECLARE
#define LAB_STUDY(name, ...) const lab_study lab_study_##name = {__VA_ARGS__}

/* Each list ends with a claim without an id. */
extern const lab_claim lab_thesis_claims[];
extern const lab_claim lab_multilayer_claims[];
extern const lab_claim lab_counting_claims[];
extern const lab_claim lab_eigen_claims[];
extern const lab_claim lab_kinds_claims[];
extern const lab_claim lab_revisits_claims[];
extern const lab_claim lab_streams_claims[];
extern const lab_claim lab_peers_claims[];
extern const lab_claim lab_graph_claims[];

#endif
