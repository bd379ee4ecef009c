/*
 * Shared by the experiments on the eigenvalue paper: URLs deep in sites, the sizes of its two filters, and theory.
 *
 * The paper gives m/n = 32 and d/k = 1/3, but no k. The best k, 22, would lose one page in five million. With k = 3 and
 * d = 1 a few in ten thousand are lost, which can be counted.
 */
#ifndef VIDI_LAB_EIGEN_EIGEN_H
#define VIDI_LAB_EIGEN_EIGEN_H

#include "lab/engine/run_memory.h"
#include "lab/engine/study.h"

enum { LAB_EIGEN_BITS = 32, LAB_EIGEN_K = 3, LAB_EIGEN_D = 1, LAB_SITE_LETTERS = 3 };

/* The number of URLs to insert into each filter: a twentieth of settings->urls, because there are many filters. */
uint64_t lab_eigen_urls(const lab_settings *settings);

/* ---- URLs ---- */

/*
 * Writes the URL of a page of a site, "http://www.abc.def.ghi.com/…/1234567890", without a final zero byte, and returns
 * its length. Pages of a site differ only in the number, and all numbers below 2^32 give different URLs.
 */
size_t lab_deep_url(char *buffer, const lab_settings *settings, uint64_t run, uint64_t site, uint64_t number);

/* The first characters of the three labels of a site, which the paper uses as its features. */
void lab_site_letters(char letters[LAB_SITE_LETTERS], const lab_settings *settings, uint64_t run, uint64_t site);

/* The same as a number. */
enum { LAB_SITE_FEATURES = 26 * 26 * 26 };
size_t lab_site_feature(const lab_settings *settings, uint64_t run, uint64_t site);

/* ---- filters ---- */

/* The eigenvalue paper's filter or, with d = 0, a classic filter. */
typedef struct lab_eigen_filter {
    const char *name;
    const char *feature; /* NULL: classic */
    unsigned k, d;
    bool third_more; /* has a third more bits; otherwise m/n is 32 in total */
} lab_eigen_filter;

uint64_t lab_eigen_first(const lab_eigen_filter *filter,
                         uint64_t n); /* bits of the first region, or of the whole classic filter */
uint64_t lab_eigen_second(const lab_eigen_filter *filter, uint64_t n); /* bits of the second region; 0: there is none */

/* Makes such a set for n URLs; it belongs to the innermost block (run_memory.h). */
int lab_eigen_make(vidi_set **set, const lab_eigen_filter *filter, const char *hash, const lab_settings *settings,
                   uint64_t run, uint64_t n);

/* ---- theory ---- */

/*
 * The number of URLs falsely seen if n URLs with `features` different features are inserted and n others are looked up,
 * `known` of which have a feature that was inserted.
 */
lab_theory lab_eigen_theory(const lab_eigen_filter *filter, uint64_t n, double features, double known);

/* The same for regions of any size, and for any number of lookups of URLs with known and with unknown features. */
typedef struct lab_eigen_load {
    double n, features, known, unknown;
} lab_eigen_load;

lab_theory lab_eigen_theory_in(const lab_eigen_filter *filter, double first, double second, lab_eigen_load load);

/* Columns: URLs of one site, and of many. */
extern const char *const lab_eigen_similar[];

/* Whether this build has SQLite. */
bool lab_eigen_has_database(void);

#endif
