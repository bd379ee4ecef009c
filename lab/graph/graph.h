/*
 * Losses in time and by place: crawls over link graphs, in which a page that the filter falsely takes for seen is not
 * fetched, so that its links are not found there either.
 *
 *   met            a link to the page was found, so the filter was asked
 *   directly lost  the filter answered "seen" when the page was first met
 *   lost with it   the page can be reached in the graph but was never met: all ways to it lead through lost pages
 *   missing        directly lost, or lost with such a page
 *
 * graph_made.c makes synthetic graphs, graph_frontier.c orders the pages that wait, graph_crawl.c crawls, and
 * graph_dominators.c derives what to expect from the graph alone. The other files measure and judge.
 */
#ifndef VIDI_LAB_GRAPH_GRAPH_H
#define VIDI_LAB_GRAPH_GRAPH_H

#include "lab/urls/link_graph.h"
#include "lab/engine/study.h"

/* ---- graph_made.c: synthetic graphs ---- */

typedef struct lab_graph_form {
    double links;    /* the mean number of links on a page */
    double local;    /* share of the links that stay on their host */
    double exponent; /* of the distribution of links to a page, above 2; 0: all pages are equally popular */
} lab_graph_form;

/* Stand for the graph from files, with its seeds one by one, or all of them at the start. */
extern const lab_graph_form lab_graph_of_files, lab_graph_of_files_seeds_first;

enum { LAB_GRAPH_SEEDS = 10 };

/* Needs more pages than LAB_GRAPH_SEEDS. */
int lab_graph_synthetic(lab_graph *graph, const lab_graph_form *form, uint64_t pages, const lab_settings *settings,
                        uint64_t run);

/* ---- graph_frontier.c: pages that wait ---- */

typedef enum lab_order {
    LAB_BREADTH_FIRST, /* the page that was met first */
    LAB_PER_HOST,      /* hosts in turn; of a host, the page that was met first */
    LAB_BEST_FIRST,    /* the page to which most links were met; among equals, the one that got there first */
    LAB_ORDERS
} lab_order;

typedef struct lab_frontier lab_frontier;

int lab_frontier_make(lab_frontier **made, const lab_graph *graph, lab_order order);
void lab_frontier_push(lab_frontier *frontier, uint32_t page);  /* a page that was met for the first time */
void lab_frontier_again(lab_frontier *frontier, uint32_t page); /* another link to a page that was pushed */
bool lab_frontier_pop(lab_frontier *frontier, uint32_t *page);  /* false: no page waits */

/* ---- graph_crawl.c ---- */

#define LAB_NEVER_MET UINT32_MAX

typedef struct lab_crawl {
    uint32_t *position; /* [page]: how many pages were met before it; LAB_NEVER_MET */
    uint32_t *depth;    /* [page]: links from a seed, on the way by which it was first met */
    uint32_t *met;      /* the pages in the order in which they were met */
    uint8_t *lost;      /* [page]: 1: directly lost */
    uint32_t met_count, lost_count;
    uint64_t asked; /* links, with repeats, and seeds */
} lab_crawl;

/* Crawls with the set, or without losses if it is NULL. */
int lab_crawl_run(lab_crawl *crawl, const lab_graph *graph, lab_order order, vidi_set *set);

/* A filter of k functions and m = bits * pages bits. */
typedef struct lab_graph_filter {
    unsigned k;
    double bits;
} lab_graph_filter;

/* Crawls with such a filter; *reported becomes the number of losses that it reports. */
int lab_crawl_filtered(lab_crawl *crawl, const lab_graph *graph, lab_order order, lab_graph_filter filter,
                       const lab_settings *settings, uint64_t run, double *reported);

/* ---- graph_dominators.c: theory ---- */

/* The bits of the filter, and the probability that it loses the page that is met after `before` others. */
double lab_graph_filter_bits(lab_graph_filter filter, uint64_t pages);
double lab_graph_loss(lab_graph_filter filter, uint64_t pages, double before);

/*
 * dominator[page]: the last page before this one that every way from the seeds leads through; LAB_NEVER_MET: there is
 * none, or the page is out of reach. `exact` is a crawl without losses in any order.
 */
int lab_graph_dominators(uint32_t *dominator, const lab_graph *graph, const lab_crawl *exact);

/*
 * Expected pages that are directly lost, and missing, by a crawl in the order of `exact`. reached[page] becomes the
 * probability that the page is fetched.
 */
typedef struct lab_graph_expected {
    double lost, missing;
} lab_graph_expected;

lab_graph_expected lab_graph_expect(const uint32_t *dominator, const lab_crawl *exact, lab_graph_filter filter,
                                    uint64_t pages, double *reached);

/* ---- graph_scene.c: a graph with what its crawls are compared with ---- */

typedef struct lab_scene {
    const lab_graph *graph; /* one of the following two */
    lab_graph made;         /* a synthetic graph */
    lab_graph taken;        /* what settings->graph has, maybe with other seeds at the start; owns nothing */
    const lab_graph_form *form;
    const lab_settings *settings;
    uint64_t run;
    lab_crawl exact[LAB_ORDERS]; /* without losses; breadth first is always there */
    uint32_t *dominator;
    double *reached; /* [page]: set by lab_scene_crawl, the expected probability that the page is fetched */
} lab_scene;

/* The pages of the graph that a form stands for; 0: it comes from files, and there are none. */
uint64_t lab_scene_pages(const lab_settings *settings, const lab_graph_form *form);

/*
 * Makes a graph of this form, or takes the one from files, which must have been given. Keeps the graph if it is the
 * same form again. Begin with {.graph = NULL}.
 */
int lab_scene_set(lab_scene *scene, const lab_graph_form *form, const lab_settings *settings, uint64_t run);

/* Makes exact[order]. */
int lab_scene_exact(lab_scene *scene, lab_order order);

typedef struct lab_scene_losses {
    double lost, lost_with, missing;
    double reported; /* expected_lost of the set */
    lab_graph_expected expected;
} lab_scene_losses;

/* Crawls with a filter. */
int lab_scene_crawl(lab_scene *scene, lab_order order, lab_graph_filter filter, lab_scene_losses *losses);

/* ---- what the studies share ---- */

#define LAB_GRAPH_NOTE                                                                                                 \
    "A 25th of the URLs are the pages of a synthetic graph with 7.6 links per page, 75 % of them within the host. "    \
    "On each host, links to a page have a power law of exponent 2.1. Rows and columns say what differs. "
#define LAB_GRAPH_FILTER_NOTE "The filter has 3 functions and 6 bits per page. "
#define LAB_GRAPH_THEORY_NOTE                                                                                          \
    "Theory follows from the graph alone: a page is missing if it is lost, or one of the pages that every way to it "  \
    "leads through. It leaves out pages that two losses cut off together, so it is a little low if many are lost."

/* The filter of most tables. */
#define LAB_GRAPH_USUAL ((lab_graph_filter){3, 6})

extern const char *const lab_order_names[]; /* by lab_order */

extern const char *const lab_graph_names[]; /* of the graphs */

/* ---- graph_entry.c: figures that are ratios of sums over the runs ---- */

/* One figure of each run, and its sum. */
typedef struct lab_graph_sum {
    const lab_numbers *all;
    size_t cell;
    double sum;
} lab_graph_sum;

lab_graph_sum lab_graph_sum_of(const lab_numbers *all, size_t row, size_t column);

/*
 * Sets measured, low and high to the product of `over` divided by the product of `under`, with a 95 % interval from the
 * differences between runs. The entry is hidden if a divisor is 0. Lists end with an element without numbers.
 */
void lab_graph_quotient(lab_entry *entry, const lab_graph_sum *over, const lab_graph_sum *under);

/* Leaves an entry out of the table: its row only carries raw figures. */
void lab_graph_hide(lab_entry *entry);

#endif
