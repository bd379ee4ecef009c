/*
 * What the experiments of the multi-layer paper share.
 *
 *   map      how often each 64-bit value was met
 *   tally    how many different segments each layer has met, how many different URLs there are, and how many of them
 *            differ in their last segment only: what the false positives of a multilayer filter follow from
 *   fill     the share of marked places after so many marks: mean and variance
 *   view     what a tally means for filters of some size
 */
#ifndef VIDI_LAB_LAYERS_H
#define VIDI_LAB_LAYERS_H

#include "lab/study.h"

/* The original's: four layers beside the XOR's, three functions, so many bits a layer for 1.0 to 3.5 million URLs. */
enum { LAYERS = 4, LAYERS_K = 3, LAYERS_SIZES = 6 };
#define LAYERS_M 16829152.0

/* "1.0 M" to "3.5 M", and how many URLs that is in the original. */
extern const char *const layers_sizes[LAYERS_SIZES + 1];
double layers_size(size_t index);

/* settings->urls divided by so much, and at least 200: below, fills vary so much that counts are not Poisson's. */
uint64_t layers_urls(const lab_settings *settings, uint64_t divisor);

/* ---- text ---- */

enum { LAYERS_SEGMENTS_MAX = 64 }; /* more are joined into the last */

/* Without "http://". */
vidi_str layers_strip(vidi_str url);

/* Cuts a stripped URL at the slashes before '?' and '#' into at most `most` segments: how many. */
size_t layers_cut(vidi_str url, size_t most, vidi_str *segments);

/* The URL with a number behind it, in the caller's buffer. */
enum { LAYERS_ROOM = LAB_URL_ROOM + 24 };
vidi_str layers_append(char buffer[LAYERS_ROOM], vidi_str url, uint64_t number);

/* ---- maps ---- */

typedef struct layers_map {
    uint64_t *keys; /* 0: free */
    uint32_t *counts;
    uint64_t room, used;
} layers_map;

uint64_t layers_hash(vidi_str text);
int layers_map_add(layers_map *map, uint64_t key); /* 1 if it is new, 0 if not, or an error */
uint32_t layers_map_count(const layers_map *map, uint64_t key);
void layers_map_free(layers_map *map);

/* ---- theory ---- */

typedef struct layers_fill {
    double mean, variance;
} layers_fill;

layers_fill layers_fill_after(double marks, double m);

/* The mean of the k-th power. */
double layers_power(layers_fill fill, double k);

/* Of `asked` questions to filters that are marked independently: seen by all of them. */
lab_theory layers_asked(double asked, double k, const layers_fill *fills, size_t count);

/* The same for one filter of m places after n URLs. */
lab_theory layers_classic(double asked, double n, double m, double k);

/*
 * Two hashes that fall on one of m places by multiply-shift: the chance that they still do after XOR with the same
 * number. One if m is a power of two.
 */
double layers_kept(double m);

/*
 * The chance that one position of a URL with a new last segment is marked both in that segment's layer, after
 * `segments` different ones, and in the XOR layer, after n URLs, `near` of which differ from it in that segment alone.
 * Those mark both layers at once: where one of their marks is hit in the layer, it is also hit in the XOR layer, for
 * `common` of their k marks: the one of the same function, with the chance layers_kept; all k if there are no other
 * segments.
 */
typedef struct layers_pair {
    double segments, n, near, common;
} layers_pair;

double layers_both(layers_pair pair, double m, double k);

/* ---- tallies ---- */

typedef struct layers_tally {
    bool salted; /* layersalt=on */
    layers_map segments[LAYERS];
    layers_map urls;    /* by the XOR of their segments */
    layers_map classes; /* by the XOR of all but the last segment; the low bits say how many segments there are */
} layers_tally;

/* Of URLs without their scheme. layers_tally_free in every case. */
int layers_tally_add(layers_tally *tally, vidi_str stripped);
bool layers_tally_has(const layers_tally *tally, vidi_str stripped);
void layers_tally_free(layers_tally *tally);

/* Expected of multilayer filters of k functions and m bits a layer: each URL once more, with a number behind it. */
double layers_expect_appended(const layers_tally *tally, double m, double k);

/* What a tally means for such filters, reckoned once for many questions. */
typedef struct layers_view {
    const layers_tally *tally;
    double m, k, kept;
    double powers[LAYERS], last; /* that k places are marked in a layer, and in the XOR layer */
} layers_view;

layers_view layers_view_of(const layers_tally *tally, double m, double k);

/* The probability for any stripped URL; 1 if its segments are known, and the XOR of them. */
double layers_expect(const layers_view *view, vidi_str stripped);

/* A count that was expected run by run, in the cells of another column: judges it, in `unit` of `asked`. */
void layers_judge_expected(const lab_numbers *all, size_t cell, const double *numbers, lab_entry *entry, double m,
                           double k, double asked, double unit);

/* ---- sets ---- */

/* The run's own set; params as printf has it. */
int layers_set(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, const char *params, ...)
    __attribute__((format(printf, 5, 6)));

/* Adds 1 to *count if the answer is VIDI_SEEN. */
int layers_ask(const vidi_set *set, vidi_str url, double *count);

/* ---- URLs that are made before the clock runs ---- */

typedef struct layers_pool {
    char *bytes;
    vidi_str *urls;
    uint64_t count;
} layers_pool;

/* Stripped URLs first, first + step, … of a run, with their own number behind them if that is wanted. layers_pool_free
 * in every case. */
typedef struct layers_choice {
    uint64_t first, step, count;
    bool appended;
} layers_choice;

int layers_pool_make(layers_pool *pool, const lab_settings *settings, uint64_t run, layers_choice choice);
void layers_pool_free(layers_pool *pool);

/* ---- studies: see the table in layers.c ---- */

typedef int layers_measure(const lab_settings *settings, uint64_t run, double *numbers);
typedef void layers_judge_beside(const lab_numbers *all, size_t row, size_t column, const double *numbers,
                                 lab_entry *entry);

extern const char *const layers_original_columns[],
    *const layers_quarter_columns[],
        *const layers_formula_rows[],
            *const layers_formula_columns[],
                *const layers_addresses_rows[],
                    *const layers_addresses_columns[],
                        *const layers_false_rows[],
                            *const layers_figure_columns[],
                                *const layers_equal_rows[],
                                    *const layers_equal_columns[],
                                        *const layers_cross_rows[],
                                            *const layers_cross_columns[],
                                                *const layers_own_rows[],
                                                    *const layers_own_columns[],
                                                        *const layers_comparisons_rows[],
                                                            *const layers_comparisons_columns[],
                                                                *const layers_times_rows[],
                                                                    *const layers_slower_columns[];

layers_measure layers_original_measure, layers_quarter_measure, layers_formula_measure, layers_addresses_measure,
    layers_false_measure, layers_equal_measure, layers_cross_measure, layers_own_measure, layers_comparisons_measure,
    layers_insert_measure, layers_query_measure, layers_slower_measure;
lab_judge_entry layers_quarter_judge, layers_formula_judge, layers_addresses_judge, layers_cross_judge,
    layers_comparisons_judge, layers_slower_judge;
layers_judge_beside layers_original_judge, layers_false_judge, layers_equal_judge, layers_own_judge;

#endif
