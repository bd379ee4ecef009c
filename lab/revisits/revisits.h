/*
 * What new salts are worth: how a crawler that comes back again and again should use its memory.
 *
 * A site has N pages. Crawl r (1 to R) should fetch each of the N pages that exist then, once; between two crawls a
 * share c of them (the churn), chosen at random, is replaced by new pages.
 *
 *   A page-crawl is missed if a page exists in crawl r and crawl r does not fetch it. That happens because the filter
 *   answers "seen" although the page was not met since the filter was last empty.
 *
 * All policies have the same peak memory: b bits for each of the N pages. A filter with new salts takes no more than
 * the old one if it is made with VIDI_TOUCH_LATER, or after the old one is gone. Plain vidi_rotate has both for a
 * moment, so at equal peak memory it can do no more than the policy "two epochs" (revisits_bytes.c measures this).
 * Policies differ in when the filter is emptied and whether it then has other salts:
 *
 *   kept            never emptied. Pages that were new once are on the crawler's list and fetched in each crawl; only
 *                   new pages are looked up. A page that is lost when it appears is lost for good, and pages that are
 *                   gone stay in the filter
 *   every n crawls  the same for n crawls; then a filter with new salts begins, and all pages are looked up again.
 *                   n = 1: each crawl
 *   two epochs      new salts each crawl, but the previous filter stays in memory, so each has half of it
 *   emptied         the filter is emptied before each crawl and keeps its salts
 *
 * k is the whole number nearest to (m/N) ln 2. The order in which a crawl meets its pages is drawn again for each
 * crawl, unless a row says "same order".
 */
#ifndef VIDI_LAB_REVISITS_REVISITS_H
#define VIDI_LAB_REVISITS_REVISITS_H

#include "lab/urls/run_urls.h"
#include "lab/engine/study.h"

/* Names of policies: rows of the tables. */
#define LAB_KEPT "kept"
#define LAB_EVERY_5 "new salts every 5 crawls"
#define LAB_EVERY_2 "new salts every 2 crawls"
#define LAB_EACH_CRAWL "new salts each crawl"
#define LAB_EACH_IN_ORDER "new salts each crawl, same order"
#define LAB_TWO_EPOCHS "two epochs, half the memory each"
#define LAB_EMPTIED "emptied, same salts"
#define LAB_EMPTIED_IN_ORDER "emptied, same salts, same order"

typedef struct lab_policy {
    const char *name;
    unsigned every;   /* crawls that a filter lasts; 0: for ever */
    unsigned filters; /* that share the memory */
    bool same_salts, same_order;
} lab_policy;

/* A policy and the site that is crawled. */
typedef struct lab_revisits {
    lab_policy policy;
    uint64_t pages;
    uint64_t replaced; /* pages that are replaced between two crawls */
    double bits;       /* of memory for each page */
} lab_revisits;

enum { LAB_REVISITS_MOST = 20 }; /* crawls */

/* The bits of one filter, and its number of functions. */
double lab_revisits_bits(const lab_revisits *revisits);
unsigned lab_revisits_k(const lab_revisits *revisits);

/* The crawls from one filter to the next. */
unsigned lab_revisits_period(const lab_revisits *revisits, unsigned crawls);

/* ---- revisits_crawls.c: the simulation, with sets of the library ---- */

/* The URLs of a run, enough for all crawls, and room for one policy at a time. */
typedef struct lab_revisits_world {
    const lab_settings *settings;
    uint64_t run;
    lab_texts texts;
    uint32_t *pages; /* [place]: the URL of the page that is in this place now */
    uint32_t *order;
    vidi_str *queue;
    uint8_t *verdicts;
    uint8_t *lost;  /* [place]: the filter has answered "seen" for it */
    uint8_t *times; /* [place]: in how many crawls the page was missed, if no page was replaced */
} lab_revisits_world;

/* A world for up to `replaced` new pages each time, for the innermost block (run_memory.h). */
int lab_revisits_world_make(lab_revisits_world *world, const lab_settings *settings, uint64_t run, uint64_t pages,
                            uint64_t replaced);

/* Makes the crawls. After each, `after` gets the number of crawls so far and of the pages that the last one missed. */
typedef void lab_after_crawl(const lab_revisits_world *world, unsigned crawls, double missed, void *context);
int lab_revisits_crawl(lab_revisits_world *world, const lab_revisits *revisits, unsigned crawls, lab_after_crawl *after,
                       void *context);

/* ---- revisits_theory.c, revisits_salts.c: the same by formula ---- */

/* Page-crawls missed in `crawls` crawls. */
lab_theory lab_revisits_missed(const lab_revisits *revisits, unsigned crawls);

/* Pages missed in at least `least` of `crawls` crawls, if none is replaced. */
lab_theory lab_revisits_often(const lab_revisits *revisits, unsigned crawls, unsigned least);

/*
 * A filter that keeps its salts and whose crawls have different orders. The share of pages that are missed in at least
 * `least` of `crawls` crawls; and the covariance of the numbers missed in two crawls.
 */
double lab_same_salts_often(const lab_revisits *revisits, unsigned crawls, unsigned least);
double lab_same_salts_covariance(const lab_revisits *revisits);

/* The probability of at least `least` successes in `trials` trials. */
double lab_binomial_above(unsigned trials, double chance, unsigned least);

/* The columns of tables over time: "1 crawl" to "20 crawls". */
extern const char *const lab_revisits_crawls[];

#endif
