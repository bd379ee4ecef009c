/*
 * Over time: ten crawls of the same pages, with some new pages each time. A page is fetched in the first crawl that
 * answers VIDI_NEW to its URL. We count the pages that are never fetched.
 *
 * The first crawl has n URLs, each later one a twentieth of n more, in a different order. Every set is made for the
 * tenth crawl. Strategies differ in bits per URL (6, the thesis's 3 functions with M = 2.0, or 12) and in whether a
 * crawl begins with new salts (vidi_rotate) or with the same.
 *
 * Theory for new salts: crawl j loses a random set of s_j of its n_j URLs, independently of what the earlier crawls
 * have lost. Of c pages that none has fetched so far (including new ones), a hypergeometric number remains:
 *
 *   mean = c s/n    variance = c (s/n) (1 - s/n) (1 - c/n) + (s/n)^2 Var c + (c/n)^2 Var s + Var c Var s / n^2
 *
 * with the means of c and s; those of s are a filling filter's (theory.c). So a share p^e of the pages remains after e
 * crawls, if one crawl loses p. With the same salts in the same order, all crawls are the same. In a different order, a
 * page whose bits are shared with many others is lost again and again (kinds_theory.c); we compute that for four
 * crawls.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/run_memory.h"
#include "lab/kinds/kinds.h"

enum { CRAWLS = 10, NEW_PART = 20, PART = 25, DELAYS = 4, STRATEGIES = 8 };

typedef struct strategy {
    const char *kind, *params;
    unsigned k;
    double multiplier;
    unsigned members;
    bool rotates, same_order;
} strategy;

#define SMALL "k=3,M=2.0"
#define LARGE "k=8,M=1.5"

static const strategy strategies[STRATEGIES] = {
    {"classic", SMALL, 3, 2.0, 1, false, true},         /* 6 bits */
    {"classic", SMALL, 3, 2.0, 1, false, false},        /* 6 bits */
    {"classic", SMALL, 3, 2.0, 1, true, false},         /* 6 bits: temporal */
    {"classic", LARGE, 8, 1.5, 1, false, false},        /* 12 bits */
    {"classic", LARGE, 8, 1.5, 1, true, false},         /* 12 bits */
    {"spatial", "F=2," SMALL, 3, 2.0, 2, false, false}, /* 2 x 6 bits */
    {"spatial", "F=2," SMALL, 3, 2.0, 2, true, false},  /* 2 x 6 bits: spatio-temporal */
    {"fingerprint", "", 0, 0, 1, true, false},          /* 60 bits of a hash */
};

static const char *const strategy_names[] = {"6 bits, same salts and order",
                                             "6 bits, same salts",
                                             "6 bits, new salts: temporal",
                                             "12 bits, same salts",
                                             "12 bits, new salts",
                                             "2 x 6 bits, same salts: spatial",
                                             "2 x 6 bits, new salts: spatio-temporal",
                                             "fingerprint",
                                             NULL};
static const char *const crawl_names[] = {"after 1", "after 2", "after 3", "after 4",  "after 5", "after 6",
                                          "after 7", "after 8", "after 9", "after 10", NULL};
static const char *const delays[] = {"by one crawl", "by two crawls", "by three to nine", "lost in all ten", NULL};

static uint64_t first_urls(const lab_settings *settings)
{
    return lab_urls_part(settings, PART, 1);
}

static uint64_t urls_in(uint64_t first, unsigned crawl)
{
    return first + first * crawl / NEW_PART;
}

static uint64_t new_in(uint64_t first, unsigned crawl)
{
    return crawl ? urls_in(first, crawl) - urls_in(first, crawl - 1) : first;
}

/* ---- measuring ---- */

typedef struct world {
    const lab_settings *settings;
    uint64_t run, first, all;
    lab_texts texts;
    uint32_t *order;
    vidi_str *queue;
    uint8_t *verdicts;
    uint8_t *fetched; /* [url]: number of the crawl that fetched it, from 1; 0: none */
} world;

static int make_world(world *made, const lab_settings *settings, uint64_t run)
{
    uint64_t first = first_urls(settings), all = urls_in(first, CRAWLS - 1);
    *made = (world){.settings = settings, .run = run, .first = first, .all = all};
    LAB_TRY(LAB_NEW(made->order, all));
    LAB_TRY(LAB_NEW(made->queue, all));
    LAB_TRY(LAB_NEW(made->verdicts, all));
    LAB_TRY(LAB_NEW(made->fetched, all));
    return lab_texts_make(&made->texts, settings, run, 0, all);
}

/* The set of a crawl: that of the last one, rotated, or a new one with the same salts. */
static int begin(vidi_set **set, const world *world, const strategy *by)
{
    vidi_options next = VIDI_OPTIONS_INIT;
    next.capacity = world->all;
    if (*set && by->rotates)
        return vidi_rotate(*set, &next);
    vidi_close(*set);
    return lab_set_make(set, world->settings, world->run, by->kind, by->params, world->all);
}

static int crawl_once(vidi_set *set, world *in, const strategy *by, unsigned crawl)
{
    uint64_t n = urls_in(in->first, crawl);
    if (by->same_order)
        for (uint64_t i = 0; i < n; i++)
            in->order[i] = (uint32_t)i;
    else
        lab_shuffle(in->order, n, in->settings->seed, in->run, crawl + 1);
    for (uint64_t i = 0; i < n; i++)
        in->queue[i] = in->texts.urls[in->order[i]];
    LAB_TRY(vidi_add_batch(set, in->queue, n, in->verdicts, NULL));
    for (uint64_t i = 0; i < n; i++)
        if (in->verdicts[i] == VIDI_NEW && !in->fetched[in->order[i]])
            in->fetched[in->order[i]] = (uint8_t)(crawl + 1);
    return VIDI_OK;
}

static int crawl_all(world *in, const strategy *by)
{
    LAB_OWN(lab_close) vidi_set *set = NULL;
    memset(in->fetched, 0, in->all);
    for (unsigned crawl = 0; crawl < CRAWLS; crawl++) {
        LAB_TRY(begin(&set, in, by));
        LAB_TRY(crawl_once(set, in, by, crawl));
    }
    return VIDI_OK;
}

static void count_never(const world *in, unsigned crawl, uint64_t urls, double *number)
{
    *number = 0;
    for (uint64_t i = 0; i < urls; i++)
        *number += !in->fetched[i] || in->fetched[i] > crawl + 1;
}

/* Counts the URLs of the first crawl that no crawl so far has fetched. */
static void count_first(const world *in, double *numbers)
{
    for (unsigned crawl = 0; crawl < CRAWLS; crawl++)
        count_never(in, crawl, in->first, &numbers[crawl]);
}

/* The same for all URLs that these crawls have met. */
static void count_all(const world *in, double *numbers)
{
    for (unsigned crawl = 0; crawl < CRAWLS; crawl++)
        count_never(in, crawl, urls_in(in->first, crawl), &numbers[crawl]);
}

/* Counts the URLs of the first crawl that a later one fetched, or none. */
static void count_delays(const world *in, double *numbers)
{
    memset(numbers, 0, DELAYS * sizeof *numbers);
    for (uint64_t i = 0; i < in->first; i++)
        if (in->fetched[i] != 1)
            numbers[in->fetched[i] == 0 ? DELAYS - 1 : in->fetched[i] > 3 ? 2 : in->fetched[i] - 2]++;
}

static int measure(const lab_settings *settings, uint64_t run, double *numbers)
{
    const lab_study *study = settings->study;
    world world;
    LAB_TRY(make_world(&world, settings, run));
    for (size_t i = 0; i < STRATEGIES; i++) {
        double *row = numbers + i * (study == &lab_study_kinds_delay ? DELAYS : CRAWLS);
        LAB_TRY(crawl_all(&world, &strategies[i]));
        (study == &lab_study_kinds_delay         ? count_delays
         : study == &lab_study_kinds_recrawl_all ? count_all
                                                 : count_first)(&world, row);
    }
    return VIDI_OK;
}

/* ---- theory ---- */

/* The pages that one crawl loses. */
static lab_theory lost_in(const strategy *by, uint64_t first, unsigned crawl)
{
    uint64_t n = urls_in(first, crawl), all = urls_in(first, CRAWLS - 1);
    if (!by->k) /* fingerprint: each of n(n-1)/2 pairs may agree in 60 bits by chance */
        return (lab_theory){ldexp((double)n * (double)n, -61), ldexp((double)n * (double)n, -61), (double)n};
    return lab_filling_theory(n, lab_bits((double)all, by->k, by->multiplier), by->k, by->members);
}

/* How many of `some` pages (mean and variance) are in a random set of size `taken` out of taken.asked. */
static lab_theory in_both(lab_theory some, lab_theory taken)
{
    double n = taken.asked, share = taken.mean / n, c = some.mean;
    return (lab_theory){c * share,
                        c * share * (1 - share) * (1 - c / n) + share * share * some.variance +
                            c / n * (c / n) * taken.variance + some.variance * taken.variance / (n * n),
                        n};
}

/* The complement: the pages that were fetched. */
static lab_theory others(lab_theory taken)
{
    return (lab_theory){taken.asked - taken.mean, taken.variance, taken.asked};
}

/* Pages never fetched after `crawls` crawls, of all that these have met or of the first crawl's URLs alone. */
static lab_theory never(const strategy *by, uint64_t first, unsigned crawls, bool of_all)
{
    lab_theory left = {0, 0, 0};
    for (unsigned crawl = 0; crawl < crawls; crawl++) {
        if (crawl == 0 || of_all)
            left.mean += (double)new_in(first, crawl);
        left = in_both(left, lost_in(by, first, crawl));
    }
    return left;
}

/* The same with the same salts and a different order each time. Losses are rare, so the variance is binomial. */
static lab_theory never_with_old_salts(const strategy *by, uint64_t first, unsigned crawls, bool of_all)
{
    double rates[CRAWLS], m = (double)urls_in(first, CRAWLS - 1) * by->k * by->multiplier, mean = 0;
    for (unsigned cohort = 0; cohort < crawls; cohort++)
        rates[cohort] = by->k * (double)new_in(first, cohort) / m;
    for (unsigned cohort = 0; cohort < (of_all ? crawls : 1); cohort++)
        mean += (double)new_in(first, cohort) * lab_lost_in_all(rates, by->k * by->members, cohort, crawls - cohort);
    return (lab_theory){mean, mean * (1 - mean / (double)first), (double)first};
}

/* Theory after `crawls` crawls; a negative mean if there is none. */
static lab_theory theory_of(const strategy *by, uint64_t first, unsigned crawls, bool of_all)
{
    if (by->same_order)
        return lost_in(by, first, of_all ? crawls - 1 : 0);
    if (by->rotates || crawls == 1)
        return never(by, first, crawls, of_all);
    return crawls <= LAB_LOST_CRAWLS ? never_with_old_salts(by, first, crawls, of_all) : (lab_theory){-1, 0, 0};
}

/* Judges a count as a share of `asked` pages; without a test if there is no theory. */
static void judge(lab_entry *entry, const double *numbers, lab_theory theory, uint64_t asked)
{
    theory.asked = (double)asked;
    if (theory.mean >= 0) {
        lab_entry_count(entry, numbers, theory, LAB_PER_MILLION);
        return;
    }
    lab_entry_scale(entry, LAB_PER_MILLION / theory.asked);
    entry->low = fmax(0, entry->low);
}

static void judge_recrawl(const lab_cell *cell, lab_entry *entry)
{
    uint64_t first = first_urls(cell->settings);
    judge(entry, cell->numbers, theory_of(&strategies[cell->row], first, (unsigned)cell->column + 1, false), first);
}

static void judge_recrawl_all(const lab_cell *cell, lab_entry *entry)
{
    uint64_t first = first_urls(cell->settings);
    judge(entry, cell->numbers, theory_of(&strategies[cell->row], first, (unsigned)cell->column + 1, true),
          urls_in(first, (unsigned)cell->column));
}

/* Pages delayed by column + 1 crawls: lost in all of these and not in the next. */
static lab_theory delayed(const strategy *by, uint64_t first, size_t column)
{
    unsigned crawls = column == DELAYS - 1 ? CRAWLS : (unsigned)column + 1;
    unsigned until = column == DELAYS - 2 ? CRAWLS : (unsigned)column + 2;
    lab_theory before = theory_of(by, first, crawls, false), after = theory_of(by, first, until, false);
    if (column == DELAYS - 1 || before.mean < 0)
        return before;
    if (by->rotates && column < DELAYS - 2)
        return in_both(before, others(lost_in(by, first, (unsigned)column + 1)));
    if (after.mean < 0)
        return after;
    double mean = before.mean - after.mean;
    return (lab_theory){mean, mean * (1 - mean / (double)first), (double)first};
}

static void judge_delay(const lab_cell *cell, lab_entry *entry)
{
    uint64_t first = first_urls(cell->settings);
    judge(entry, cell->numbers, delayed(&strategies[cell->row], first, cell->column), first);
}

LAB_STUDY(kinds_recrawl, "kinds-recrawl", "Pages of the first crawl that no crawl has fetched, over ten crawls",
          "vidi, after the thesis, sections 4.2 to 4.4",
          "A 25th of the URLs, and a twentieth of these more with each crawl, in a different order each time; every "
          "set is made for the tenth crawl. Theory with new salts: the product of the shares that the crawls lose, "
          "p^e after e crawls; with the same salts: a page that shares bits with many others is lost again.",
          "pages per million", strategy_names, crawl_names,
          .plot = {.x = "crawls", .y = "pages never fetched per million", .log_y = true}, .measure = measure,
          .judge = judge_recrawl);

LAB_STUDY(kinds_recrawl_all, "kinds-recrawl-all",
          "Pages that no crawl has fetched, over ten crawls, including new pages",
          "vidi, after the thesis, sections 4.2 to 4.4",
          "The same crawls: of a million pages that they have met so far. Most of them are new in the last crawl, and "
          "have had only one chance.",
          "pages per million", strategy_names, crawl_names,
          .plot = {.x = "crawls", .y = "pages never fetched per million", .log_y = true}, .measure = measure,
          .judge = judge_recrawl_all);

LAB_STUDY(kinds_delay, "kinds-delay", "By how many crawls a page is delayed", "vidi, after the thesis, section 4.2",
          "The same crawls: of a million pages of the first crawl, those that it did not fetch.", "pages per million",
          strategy_names, delays, .measure = measure, .judge = judge_delay);
