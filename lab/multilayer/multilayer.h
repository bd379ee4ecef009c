/*
 * What the experiments on the multi-layer paper, a study of Cen, Xu, Sun 2010 ("the original"), share.
 *
 * The paper leaves some details open. We use sip13 for its hash functions (for its own runs murmur3, as its program
 * did). We XOR hashes before they are reduced to addresses, except in multilayer-formula, where m is a power of two,
 * and in the program as its authors ran it. We join segments after the fourth into it, except in that program.
 *
 *   map      counts how often each 64-bit value occurred
 *   tally    counts the different segments of each layer, the different URLs, and how many of them differ in their last
 *            segment alone: these numbers determine the false positives of a multilayer filter
 *   view     a tally, evaluated for filters of a given size
 */
#ifndef VIDI_LAB_MULTILAYER_MULTILAYER_H
#define VIDI_LAB_MULTILAYER_MULTILAYER_H

#include "lab/engine/run_memory.h"
#include "lab/engine/study.h"

/* The original has four layers and the XOR layer, three functions, and m bits per layer for 1.0 to 3.5 million URLs. */
enum { LAB_LAYERS = 4, LAB_LAYERS_K = 3, LAB_LAYERS_SIZES = 6 };
#define LAB_LAYERS_M 16829152.0
#define LAB_LAYERS_LEAST 1e6  /* the smallest number of URLs in the original */
#define LAB_LAYERS_MOST 3.5e6 /* the largest; a classic filter then loses a tenth */

/* Parameters of the paper's filter, after m and k. */
#define LAB_LAYERS_PARAMS ",L=4,layersalt=off,xor=hash,scheme=strip"

enum { LAB_LAYERS_PART = 20 }; /* most experiments use a twentieth of the URLs */
#define LAB_LAYERS_SCALED "Numbers of URLs are for --urls 1e6 and scale with it. "

/* "1.0 M" to "3.5 M", and the number of URLs in the original. */
extern const char *const lab_multilayer_sizes[LAB_LAYERS_SIZES + 1];
double lab_multilayer_size(size_t index);

/* settings->urls divided by `part`, but at least 200: with fewer, fills vary too much for Poisson counts. */
uint64_t lab_multilayer_urls(const lab_settings *settings, uint64_t part);

/* Bits per layer, so that n URLs fill it as `original` URLs fill a layer of the original. */
double lab_multilayer_bits(double n, double original);

/* ---- text ---- */

enum { LAB_LAYERS_SEGMENTS_MAX = 64 }; /* further segments are joined into the last */

/* The URL without "http://". */
vidi_str lab_multilayer_strip(vidi_str url);

/* URL number `index` of the run without its scheme, in a buffer of LAB_URL_ROOM bytes. */
vidi_str lab_multilayer_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t index);

/* Cuts a stripped URL at the slashes before '?' and '#' into at most `most` segments; returns their number. */
size_t lab_multilayer_cut(vidi_str url, size_t most, vidi_str *segments);

/* The URL with a number appended, in the caller's buffer. */
enum { LAB_LAYERS_ROOM = LAB_URL_ROOM + 24 };
vidi_str lab_multilayer_append(char buffer[LAB_LAYERS_ROOM], vidi_str url, uint64_t number);

/* ---- maps ---- */

/* Its arrays belong to the block in which it grows (run_memory.h). */
typedef struct lab_multilayer_map {
    uint64_t *keys; /* 0: free */
    uint32_t *counts;
    uint64_t room, used;
} lab_multilayer_map;

uint64_t lab_multilayer_hash(vidi_str text);
int lab_multilayer_map_add(lab_multilayer_map *map, uint64_t key); /* 1 if the key is new, 0 if not, or an error */
uint32_t lab_multilayer_map_count(const lab_multilayer_map *map, uint64_t key);

/* ---- theory ---- */

/* `asked` lookups in filters whose bits are independent: how many URLs all filters have seen. */
lab_theory lab_multilayer_asked(double asked, double k, const lab_fill *fills, size_t count);

/* The same for one filter of m bits after n URLs. */
lab_theory lab_multilayer_classic(double asked, double n, double m, double k);

/*
 * The probability that two hashes with the same place among m, by multiply-shift, still have the same place after XOR
 * with the same number. 1 if m is a power of two.
 */
double lab_multilayer_kept(double m);

/*
 * The probability that a URL with a new last segment finds all its bits set both in that segment's layer, after
 * `segments` different segments, and in the XOR layer, after n URLs, `near` of which differ from it in that segment
 * alone. Those URLs set bits in both layers together: if a bit of theirs is hit in the layer, it is also hit in the XOR
 * layer. That is true for `common` of their k bits: for the bit of the same function, with probability
 * lab_multilayer_kept, and for all k if there are no other segments.
 */
typedef struct lab_multilayer_pair {
    double segments, n, near, common;
} lab_multilayer_pair;

double lab_multilayer_both(lab_multilayer_pair pair, double m, double k);

/* ---- tallies ---- */

typedef struct lab_multilayer_tally {
    bool salted; /* layersalt=on */
    lab_multilayer_map segments[LAB_LAYERS];
    lab_multilayer_map urls;    /* by the XOR of their segments */
    lab_multilayer_map classes; /* by the XOR of all segments but the last; the low bits hold the number of segments */
} lab_multilayer_tally;

/* Adds a URL without its scheme. */
int lab_multilayer_tally_add(lab_multilayer_tally *tally, vidi_str stripped);
bool lab_multilayer_tally_has(const lab_multilayer_tally *tally, vidi_str stripped);

/*
 * The expected number of URLs of the tally that multilayer filters with k functions and m bits per layer falsely see,
 * if each is looked up with a number appended.
 */
double lab_multilayer_expect_appended(const lab_multilayer_tally *tally, double m, double k);

/* A tally evaluated for such filters, once for many lookups. */
typedef struct lab_multilayer_view {
    const lab_multilayer_tally *tally;
    double m, k, kept;
    double powers[LAB_LAYERS], last; /* probabilities that k bits are set in a layer and in the XOR layer */
} lab_multilayer_view;

lab_multilayer_view lab_multilayer_view_of(const lab_multilayer_tally *tally, double m, double k);

/* The probability that a stripped URL is seen; 1 if its segments and their XOR are known. */
double lab_multilayer_expect(const lab_multilayer_view *view, vidi_str stripped);

/* Judges a count whose expectation for each run is in the cell `cell`; in `unit` of `asked`. */
void lab_multilayer_judge_expected(const lab_numbers *all, size_t cell, const double *numbers, lab_entry *entry,
                                   double m, double k, double asked, double unit);

/* ---- sets ---- */

/* Looks up a URL and adds 1 to *count if it is seen. */
int lab_multilayer_ask(const vidi_set *set, vidi_str url, double *count);

/* ---- URLs that are made before times are taken ---- */

typedef struct lab_multilayer_pool {
    char *bytes;
    vidi_str *urls;
    uint64_t count;
} lab_multilayer_pool;

/*
 * The stripped URLs first, first + step, … of a run, optionally with their own number appended.
 */
typedef struct lab_multilayer_choice {
    uint64_t first, step, count;
    bool appended;
} lab_multilayer_choice;

int lab_multilayer_pool_make(lab_multilayer_pool *pool, const lab_settings *settings, uint64_t run,
                             lab_multilayer_choice choice);

/* ---- what several studies share ---- */

/* The columns of figures 3 to 5; columns and judge of times in seconds; rows of the paper's own program. */
extern const char *const lab_multilayer_figure_columns[], *const lab_multilayer_slower_columns[];
extern const char *const lab_multilayer_program_rows[];
lab_judge_entry lab_multilayer_slower_judge;

/* multilayer_own.c: the number of URLs that the paper looked up, and our estimate of how many of them were inserted */
#define LAB_LAYERS_OWN_ASKED 781489.0
#define LAB_LAYERS_OWN_REPEATED 11900.0

/* Decimals for printing a ratio: more for small ones, none for large ones. */
static inline int lab_multilayer_decimals(double ratio)
{
    return ratio >= 100 ? 0 : ratio >= 1 ? 1 : 3;
}

#endif
