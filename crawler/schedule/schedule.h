/*
 * Decides when a continuous crawl visits each page again. Pure arithmetic: the caller passes the time, fetches the pages
 * and keeps a row for each of them.
 *
 * A page's changes are taken for a Poisson process. Its rate is estimated by maximum likelihood from what its visits
 * saw (J. Cho, H. Garcia-Molina, "Estimating frequency of change", ACM TOIT 3(3), 2003). A page that is visited r times
 * a day and changes at a rate d costs importance * log(1 + d/r): each change that the copy lacks counts, the n-th one
 * 1/n. For a given budget, the sum of these costs is least with
 *
 *     r = (-d + sqrt(d^2 + 4 importance d / lambda)) / 2
 *
 * and one lambda for all pages (A. Kolobov and others, "Staying up to date with online content changes using
 * reinforcement learning for scheduling", NeurIPS 2019). Visits come at fixed intervals of 1/r, a little earlier or
 * later by the page's key, so that pages that were found together do not stay together.
 *
 * Two things are added, because most pages never change and a rate alone does not show that: ten visits without a change
 * leave an estimate of 0.05 changes a visit, and with the square root above such pages would take a third of all visits.
 *
 *   alive    The probability that a page changes at all is learned from the whole population: rates of pages that were
 *            seen to change, and for how long the others were not. A page that has not changed in SCHEDULE_TRIAL visits
 *            has its importance multiplied by this probability, and its rate is the mean over pages like it.
 *   longest  No page waits longer than SCHEDULE_LONGEST times the mean interval, however dead it looks, so a page that
 *            wakes up is noticed. This costs at most one visit in SCHEDULE_LONGEST.
 *
 * The schedule keeps counts of pages that are alike instead of the pages: about 100 kB, for any number of pages. Lambda and
 * the population are computed from these counts now and then. A row of the database has what the schedule needs of a
 * page: a short blob (history_pack) and the columns importance, rate, alive, visited and due. With an index on due, the
 * next page is the first row of that index. Whenever the budget allows a visit, that page gets it, even if its time has
 * not quite come: due times were computed with an older lambda, and this is what keeps to the budget.
 *
 *     first response  schedule_enter       when the program starts  schedule_load for each row, in one pass
 *     next responses  schedule_visit       page is gone             schedule_leave
 *
 * A page's first interval depends on how many pages there are, so pages enter when the first crawl is over, and
 * schedule_expect says how many will.
 *
 * Times are in milliseconds since 1970; rates are per day.
 */
#ifndef VIDI_CRAWLER_SCHEDULE_SCHEDULE_H
#define VIDI_CRAWLER_SCHEDULE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_DAY 86400000.0 /* milliseconds */

/* ---- dates that servers give: Last-Modified of a page, lastmod of a sitemap ---- */

enum {
    DATE_RIGHTS = 5,   /* dates are believed after this many right ones, at least one of them for a change */
    DATE_SLACK = 60000 /* milliseconds that a server's clock may be wrong */
};

typedef enum date_verdict {
    DATE_SILENT, /* says nothing: there is no date, or it is too coarse to tell */
    DATE_RIGHT,
    DATE_WRONG
} date_verdict;

/* A response after an earlier one. */
typedef struct page_visit {
    int64_t previous, now;               /* when the two responses came; previous <= now */
    int64_t previous_modified, modified; /* the dates that came with them; negative: none */
    bool changed;                        /* the content differs */
} page_visit;

/* A date must move exactly if the content changes, to a time between the two visits. `resolution`: the milliseconds
 * that it may stand for: 1000 for HTTP, a day for a sitemap that gives no time. */
date_verdict date_judge(const page_visit *visit, int64_t resolution);

/* How far to believe the dates of a page, or of a sitemap. Starts as zeros. After a wrong date they have to be right
 * again, twice as often as before, up to 16 times DATE_RIGHTS. */
typedef struct date_trust {
    uint8_t right, moved, wrong;
} date_trust;

void date_trust_add(date_trust *trust, date_verdict verdict, bool changed);
bool date_trusted(const date_trust *trust);

/* ---- what the visits of a page saw ---- */

enum {
    HISTORY_OCTAVE = 8,     /* changed intervals are counted in buckets, this many for a factor of two ... */
    HISTORY_BUCKETS = 176,  /* ... from 84 seconds to 11 years */
    HISTORY_UNIT = 4,       /* counts are in quarters of an interval, so that they can be halved */
    HISTORY_INTERVALS = 60, /* if there are more, all counts are halved: rates change, too */
    HISTORY_PACKED = 16 + 2 * HISTORY_BUCKETS
};

/*
 * Starts as zeros. The estimate needs the sum of the unchanged intervals and each changed one, of which a bucket knows
 * the length to 4 %; the sum of all changed ones, which is exact, corrects the most of that: against the exact estimate,
 * the error is below 2 %.
 */
typedef struct page_history {
    float unchanged, changed; /* days: sums of the intervals */
    float exposed;            /* days without a change that honest dates bear witness to: the complete observation */
    uint8_t unchanged_count;
    uint8_t modified_count; /* changes that honest dates told of */
    uint8_t changed_counts[HISTORY_BUCKETS];
    date_trust dates;
} page_history;

void history_add(page_history *history, const page_visit *visit);

/* The number of intervals, and of changed ones; forgotten ones do not count. */
double history_intervals(const page_history *history);
double history_changes(const page_history *history);

/*
 * Changes a day. Finite and above 0, because of one imaginary interval, half of which is changed and half of which is
 * not. It is as long as the page's mean interval, or `interval` days for a page that has none. With honest dates, the
 * number of changes divided by the time: (changes + 1/2) / (exposed + interval/2).
 */
double history_rate(const page_history *history, double interval);

/* As bytes: 9 for a page that never changed, two more for each bucket, seven more if there are dates. Unpacking gives back the same history; false: not a packed
 * history. */
size_t history_pack(const page_history *history, uint8_t packed[HISTORY_PACKED]);
bool history_unpack(page_history *history, const uint8_t *packed, size_t size);

/* ---- how fresh copies are ---- */

/* The probability that a page is as it was `days` ago, and the expected age of its copy: the days since the first change
 * that the copy lacks; 0 for a fresh copy. */
double page_fresh(double rate, double alive, double days);
double page_age(double rate, double alive, double days);

/* ---- the schedule ---- */

enum {
    SCHEDULE_TRIAL = 4,   /* visits that a page gets before it may be taken for one that never changes */
    SCHEDULE_LONGEST = 32 /* times the mean interval: no page waits longer */
};

typedef struct schedule schedule;

/* The row of a page. */
typedef struct schedule_page {
    page_history history;
    double importance; /* above 0; 1 for all, or for example a number of links */
    uint64_t key;      /* keyed hash of the URL */
    /* Set by the schedule, and stored as they are: */
    double rate;  /* changes a day, if it changes at all */
    double alive; /* the probability that it does */
    int64_t visited, due;
} schedule_page;

/* What is to be expected of the present pages, if each is visited as often as it should be. */
typedef struct schedule_outlook {
    uint64_t pages;
    double alive;  /* share of pages that change at all */
    double fresh;  /* mean share of fresh copies */
    double age;    /* mean age of a copy in days */
    double visits; /* per day: the budget, as far as lambda is exact */
    double lambda;
} schedule_outlook;

/* VIDI_OK or VIDI_EMEMORY. budget: visits a day, above 0. */
int schedule_open(schedule **made, double budget);
void schedule_close(schedule *schedule);
void schedule_set_budget(schedule *schedule, double budget);

/* While the first pages enter: how many there will be. 0: no more than there are. */
void schedule_expect(schedule *schedule, uint64_t pages);

/* Adds a page after its first response, which came at `now`. Only importance and key are set. */
void schedule_enter(schedule *schedule, schedule_page *page, int64_t now);

/* Adds a page that was stored. Dates of due stay as they are. */
void schedule_load(schedule *schedule, const schedule_page *page);

/* A page was fetched again. `visit->previous` is page->visited. */
void schedule_visit(schedule *schedule, schedule_page *page, const page_visit *visit);

/* The page as it was stored is no longer in the schedule. To change a page's importance, let it leave and load it. */
void schedule_leave(schedule *schedule, const schedule_page *page);

/* Visits a day of such a page. */
double schedule_rate(schedule *schedule, double rate, double importance);

/* When it is visited next. */
int64_t schedule_next_due(schedule *schedule, double rate, double importance, uint64_t key, int64_t visited);

schedule_outlook schedule_look(schedule *schedule);

#endif
