/*
 * The time that features cost (the eigenvalue paper, section 2.3: "not much increase"): the paper's filter compared
 * with classic filters of k and of k + d functions. URLs are made in advance, and added and looked up in batches.
 */
#include "lab/eigen/eigen.h"

#include <stdlib.h>

#include "lab/urls/run_urls.h"

static const char *const timed[] = {"classic", "4 functions", "labels", "tail", NULL};
static const char *const deeds[] = {"add", "look up", NULL};

static const lab_eigen_filter filters[] = {
    {"classic", NULL, LAB_EIGEN_K, 0, false},
    {"4 functions", NULL, LAB_EIGEN_K + LAB_EIGEN_D, 0, true},
    {"labels", "labels", LAB_EIGEN_K, LAB_EIGEN_D, true},
    {"tail", "tail", LAB_EIGEN_K, LAB_EIGEN_D, true},
};

enum { FILTERS = sizeof filters / sizeof *filters, ADD = 0, ASK, DEEDS, DEPTH = 100 };

typedef struct pages {
    uint64_t n;
    char *bytes;
    vidi_str *urls; /* n to add, n to look up */
} pages;

static int make_pages(pages *pages, const lab_settings *settings, uint64_t run)
{
    uint64_t n = pages->n = lab_eigen_urls(settings);
    LAB_TRY(LAB_NEW(pages->bytes, 2 * n * LAB_URL_ROOM));
    LAB_TRY(LAB_NEW(pages->urls, 2 * n));
    for (uint64_t deed = ADD; deed < DEEDS; deed++)
        for (uint64_t i = 0; i < n; i++) {
            uint64_t site = i / DEPTH, number = site * 2 * DEPTH + i % DEPTH + deed * DEPTH;
            char *bytes = pages->bytes + (deed * n + i) * LAB_URL_ROOM;
            pages->urls[deed * n + i] = (vidi_str){bytes, lab_deep_url(bytes, settings, run, site, number)};
        }
    return VIDI_OK;
}

static int add_and_ask(vidi_set *set, const pages *pages, double *times)
{
    for (uint64_t deed = ADD; deed < DEEDS; deed++) {
        uint64_t start = lab_thread_time();
        LAB_TRY(deed == ADD ? lab_texts_add(set, pages->urls, pages->n, NULL)
                            : lab_texts_ask(set, pages->urls + pages->n, pages->n, NULL));
        times[deed] = (double)(lab_thread_time() - start) / (double)pages->n;
    }
    return VIDI_OK;
}

static int measure_time(const lab_settings *settings, uint64_t run, double *numbers)
{
    pages pages = {0};
    LAB_TRY(make_pages(&pages, settings, run));
    for (size_t i = 0; i < FILTERS; i++) {
        vidi_set *set;
        LAB_BLOCK;
        LAB_TRY(lab_eigen_make(&set, &filters[i], "sip13", settings, run, pages.n));
        LAB_TRY(add_and_ask(set, &pages, numbers + i * DEEDS));
    }
    return VIDI_OK;
}

LAB_STUDY(eigen_time, "eigen-time", "Time per URL", "the eigenvalue paper, section 2.3",
          "A twentieth of the URLs is inserted, depth 100, m/n = 32, and a third more bits for all but the first.",
          "ns per URL", timed, deeds, .timed = true, .runs_most = 9, .measure = measure_time);
