/*
 * What the experiments on the multi-layer paper share, and their parts.
 *
 *   map      how often each 64-bit value was met
 *   tally    how many different segments each layer has met, how many different URLs there are, and how many of them
 *            differ in their last segment only: what the false positives of a multilayer filter follow from
 *   view     what a tally means for filters of some size
 */
#ifndef VIDI_LAB_MULTILAYER_LAYERS_H
#define VIDI_LAB_MULTILAYER_LAYERS_H

#include "lab/engine/study.h"

/* The original's: four layers beside the XOR's, three functions, so many bits a layer for 1.0 to 3.5 million URLs. */
enum { LAB_LAYERS = 4, LAB_LAYERS_K = 3, LAB_LAYERS_SIZES = 6 };
#define LAB_LAYERS_M 16829152.0
#define LAB_LAYERS_LEAST 1e6  /* URLs of the original's first size */
#define LAB_LAYERS_MOST 3.5e6 /* and of its last, of which a classic filter loses a tenth */

/* Parameters of the paper's filter, behind m and k. */
#define LAB_LAYERS_PARAMS ",L=4,layersalt=off,xor=hash,scheme=strip"

enum { LAB_LAYERS_PART = 20 }; /* most of the experiments have a twentieth of the URLs */

/* "1.0 M" to "3.5 M", and how many URLs that is in the original. */
extern const char *const lab_layers_sizes[LAB_LAYERS_SIZES + 1];
double lab_layers_size(size_t index);

/* That part of settings->urls, and at least 200: below, fills vary so much that counts are not Poisson's. */
uint64_t lab_layers_urls(const lab_settings *settings, uint64_t part);

/* Bits a layer, so that n URLs fill it as the original's are filled by so many. */
double lab_layers_bits(double n, double original);

/* ---- text ---- */

enum { LAB_LAYERS_SEGMENTS_MAX = 64 }; /* more are joined into the last */

/* Without "http://". */
vidi_str lab_layers_strip(vidi_str url);

/* URL `index` of the run without it, in the caller's buffer of LAB_URL_ROOM. */
vidi_str lab_layers_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index);

/* Cuts a stripped URL at the slashes before '?' and '#' into at most `most` segments: how many. */
size_t lab_layers_cut(vidi_str url, size_t most, vidi_str *segments);

/* The URL with a number behind it, in the caller's buffer. */
enum { LAB_LAYERS_ROOM = LAB_URL_ROOM + 24 };
vidi_str lab_layers_append(char buffer[LAB_LAYERS_ROOM], vidi_str url, uint64_t number);

/* ---- maps ---- */

typedef struct lab_layers_map {
    uint64_t *keys; /* 0: free */
    uint32_t *counts;
    uint64_t room, used;
} lab_layers_map;

uint64_t lab_layers_hash(vidi_str text);
int lab_layers_map_add(lab_layers_map *map, uint64_t key); /* 1 if it is new, 0 if not, or an error */
uint32_t lab_layers_map_count(const lab_layers_map *map, uint64_t key);
void lab_layers_map_free(lab_layers_map *map);

/* ---- theory ---- */

/* Of `asked` questions to filters that are marked independently: seen by all of them. */
lab_theory lab_layers_asked(double asked, double k, const lab_fill *fills, size_t count);

/* The same for one filter of m places after n URLs. */
lab_theory lab_layers_classic(double asked, double n, double m, double k);

/*
 * Two hashes that fall on one of m places by multiply-shift: the chance that they still do after XOR with the same
 * number. One if m is a power of two.
 */
double lab_layers_kept(double m);

/*
 * The chance that one position of a URL with a new last segment is marked both in that segment's layer, after
 * `segments` different ones, and in the XOR layer, after n URLs, `near` of which differ from it in that segment alone.
 * Those mark both layers at once: where one of their marks is hit in the layer, it is also hit in the XOR layer, for
 * `common` of their k marks: the one of the same function, with the chance lab_layers_kept; all k if there are no other
 * segments.
 */
typedef struct lab_layers_pair {
    double segments, n, near, common;
} lab_layers_pair;

double lab_layers_both(lab_layers_pair pair, double m, double k);

/* ---- tallies ---- */

typedef struct lab_layers_tally {
    bool salted; /* layersalt=on */
    lab_layers_map segments[LAB_LAYERS];
    lab_layers_map urls;    /* by the XOR of their segments */
    lab_layers_map classes; /* by the XOR of all but the last segment; the low bits say how many segments there are */
} lab_layers_tally;

/* Of URLs without their scheme. lab_layers_tally_free in every case. */
int lab_layers_tally_add(lab_layers_tally *tally, vidi_str stripped);
bool lab_layers_tally_has(const lab_layers_tally *tally, vidi_str stripped);
void lab_layers_tally_free(lab_layers_tally *tally);

/* Expected of multilayer filters of k functions and m bits a layer: each URL once more, with a number behind it. */
double lab_layers_expect_appended(const lab_layers_tally *tally, double m, double k);

/* What a tally means for such filters, reckoned once for many questions. */
typedef struct lab_layers_view {
    const lab_layers_tally *tally;
    double m, k, kept;
    double powers[LAB_LAYERS], last; /* that k places are marked in a layer, and in the XOR layer */
} lab_layers_view;

lab_layers_view lab_layers_view_of(const lab_layers_tally *tally, double m, double k);

/* The probability for any stripped URL; 1 if its segments are known, and the XOR of them. */
double lab_layers_expect(const lab_layers_view *view, vidi_str stripped);

/* A count that was expected run by run, in the cells of another column: judges it, in `unit` of `asked`. */
void lab_layers_judge_expected(const lab_numbers *all, size_t cell, const double *numbers, lab_entry *entry, double m,
                               double k, double asked, double unit);

/* ---- sets ---- */

/* The run's own set; params as printf has it. */
int lab_layers_set(vidi_set **set, const lab_settings *settings, uint64_t run, const char *kind, const char *params,
                   ...) __attribute__((format(printf, 5, 6)));

/* Adds 1 to *count if the answer is VIDI_SEEN. */
int lab_layers_ask(const vidi_set *set, vidi_str url, double *count);

/* ---- URLs that are made before the clock runs ---- */

typedef struct lab_layers_pool {
    char *bytes;
    vidi_str *urls;
    uint64_t count;
} lab_layers_pool;

/*
 * Stripped URLs first, first + step, … of a run, with their own number behind them if that is wanted.
 * lab_layers_pool_free in every case.
 */
typedef struct lab_layers_choice {
    uint64_t first, step, count;
    bool appended;
} lab_layers_choice;

int lab_layers_pool_make(lab_layers_pool *pool, const lab_settings *settings, uint64_t run, lab_layers_choice choice);
void lab_layers_pool_free(lab_layers_pool *pool);

/* ---- the experiments: their parts, which layers_experiments.c puts together ---- */

/* layers_search.c */
extern const char *const lab_layers_comparisons_rows[], *const lab_layers_comparisons_columns[];
lab_measure_run lab_layers_comparisons_measure;
lab_judge_entry lab_layers_comparisons_judge;

/* layers_false.c: the figures' numbers of URLs are also those of layers_times.c */
extern const char *const lab_layers_false_rows[], *const lab_layers_figure_columns[];
lab_measure_run lab_layers_false_measure;
lab_judge_entry_beside lab_layers_false_judge;

/* layers_times.c */
extern const char *const lab_layers_times_rows[], *const lab_layers_slower_columns[];
lab_measure_run lab_layers_insert_measure, lab_layers_query_measure, lab_layers_slower_measure;
lab_judge_entry lab_layers_slower_judge;

/* layers_original.c */
extern const char *const lab_layers_original_columns[], *const lab_layers_quarter_columns[];
lab_measure_run lab_layers_original_measure, lab_layers_quarter_measure;
lab_judge_entry_beside lab_layers_original_judge;
lab_judge_entry lab_layers_quarter_judge;

/* layers_formula.c */
extern const char *const lab_layers_formula_rows[], *const lab_layers_formula_columns[];
extern const char *const lab_layers_addresses_rows[], *const lab_layers_addresses_columns[];
lab_measure_run lab_layers_formula_measure, lab_layers_addresses_measure;
lab_judge_entry lab_layers_formula_judge, lab_layers_addresses_judge;

/* layers_equal.c */
extern const char *const lab_layers_equal_rows[], *const lab_layers_equal_columns[];
lab_measure_run lab_layers_equal_measure;
lab_judge_entry_beside lab_layers_equal_judge;

/* layers_cross.c */
extern const char *const lab_layers_cross_rows[], *const lab_layers_cross_columns[];
lab_measure_run lab_layers_cross_measure;
lab_judge_entry lab_layers_cross_judge;

/* layers_own.c: the paper asked so many URLs, of which so many had gone in, by our reckoning */
#define LAB_LAYERS_OWN_ASKED 781489.0
#define LAB_LAYERS_OWN_REPEATED 11900.0
extern const char *const lab_layers_own_rows[], *const lab_layers_own_columns[];
lab_measure_run lab_layers_own_measure;
lab_judge_entry_beside lab_layers_own_judge;

/* Decimals that a ratio is told with, so that small ones say something and large ones are whole. */
static inline int lab_layers_decimals(double ratio)
{
    return ratio >= 100 ? 0 : ratio >= 1 ? 1 : 3;
}

#endif
