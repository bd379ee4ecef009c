/*
 * The claims of the thesis: its research questions and the conclusions from its tables. Each is judged by our
 * measurements, never by the published figures.
 *
 * Two cells count as equal if they differ by no more than chance allows (LAB_Z_MOST).
 */
#include "lab/thesis/thesis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double lab_apart(const lab_entry *a, const lab_entry *b)
{
    double spread = hypot(lab_entry_spread(a), lab_entry_spread(b)), difference = a->measured - b->measured;
    return spread > 0 ? difference / spread : difference > 0 ? INFINITY : difference < 0 ? -INFINITY : 0;
}

lab_comparison lab_compare(const lab_entry *a, const lab_entry *b)
{
    const double about_as_much = 1.1;
    if (lab_apart(a, b) > LAB_Z_MOST)
        return LAB_MORE;
    return a->measured > about_as_much * b->measured ? LAB_OPEN : LAB_NOT_MORE;
}

/* Judges the claim that a strategy loses fewer pages than its alternative: comparison says whether that loses more. */
static lab_holding holding_of(lab_comparison comparison, lab_holding if_more)
{
    return comparison == LAB_MORE ? if_more : comparison == LAB_OPEN ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
}

void lab_contest_add(lab_contest *contest, const lab_entry *a, const lab_entry *b)
{
    if (!a || !b)
        return;
    contest->pairs++;
    contest->worst = fmax(contest->worst, fabs(lab_apart(a, b)));
}

static const char *const multipliers[] = {"1.7 M", "2.0 M", "2.5 M", "3.0 M", "4.0 M", "5.0 M", NULL};

/* ---- the research questions ---- */

static lab_holding judge_temporal(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *one = lab_book_entry(book, "thesis-5.9", "3 HF", "1.7 M");
    const lab_entry *both = lab_book_entry(book, "thesis-5.16", "3 HF", "1.7 M");
    if (!one || !both)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 3 functions and M = 1.7 one crawl loses %.3g %%, and both of two crawls with different salts lose "
             "%.3g %%, the square of it; each crawl alone still loses %.3g %%, and these pages come one crawl late",
             one->measured, both->measured, one->measured);
    return holding_of(lab_compare(one, both), LAB_HOLDS);
}

static lab_holding judge_spatial(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *one = lab_book_entry(book, "thesis-5.9", "3 HF", "2.0 M");
    const lab_entry *two = lab_book_entry(book, "thesis-5.18", "3 HF", "2.0 M");
    const lab_entry *joined = lab_book_entry(book, "thesis-5.9", "6 HF", "2.0 M");
    if (!one || !two || !joined)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 3 functions and M = 2.0 one filter loses %.3g %% and two lose %.3g %%, but they take twice the "
             "memory and twice the hash values; one filter with 6 functions takes as much and loses %.3g %%",
             one->measured, two->measured, joined->measured);
    return holding_of(lab_compare(one, two), lab_compare(joined, two) == LAB_MORE ? LAB_HOLDS : LAB_CONDITIONS);
}

static lab_holding judge_both_strategies(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *temporal = lab_book_entry(book, "thesis-5.16", "3 HF", "1.7 M");
    const lab_entry *spatial = lab_book_entry(book, "thesis-5.18", "3 HF", "1.7 M");
    const lab_entry *combined = lab_book_entry(book, "thesis-5.20", "3 HF", "1.7 M");
    const lab_entry *joined = lab_book_entry(book, "thesis-5.16", "6 HF", "1.7 M");
    if (!temporal || !spatial || !combined || !joined)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 3 functions and M = 1.7 two filters in two crawls lose %.3g %%, two crawls alone %.3g %% and two "
             "filters alone %.3g %%; but two crawls with one equally large filter of 6 functions lose %.3g %%",
             combined->measured, temporal->measured, spatial->measured, joined->measured);
    lab_holding if_more = lab_compare(joined, combined) == LAB_MORE ? LAB_HOLDS : LAB_CONDITIONS;
    lab_holding without_filters = holding_of(lab_compare(temporal, combined), if_more);
    return without_filters == if_more ? holding_of(lab_compare(spatial, combined), if_more) : without_filters;
}

/* Compares different functions, the first row of a table, with each salted function. */
static void add_salted(lab_contest *contest, const lab_book *book, const char *id)
{
    const lab_table *table = lab_book_find(book, id);
    for (size_t i = 1; table && i < table->rows; i++)
        lab_contest_add(contest, lab_book_entry(book, id, table->entries[0].row, "FP"),
                        lab_book_entry(book, id, table->entries[i * table->columns].row, "FP"));
}

static lab_holding judge_salts(const lab_book *book, char *sentence, size_t room)
{
    static const char *const ids[] = {"thesis-5.2", "thesis-5.3", "thesis-5.6", "thesis-5.7"};
    lab_contest contest = {0, 0};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        add_salted(&contest, book, ids[i]);
    if (contest.pairs == 0)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "In %u comparisons of different functions with one salted function, the largest difference is %.1f "
             "standard deviations%s",
             contest.pairs, contest.worst, lab_contest_even(&contest) ? ", which is chance" : "");
    return lab_contest_even(&contest) ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* ---- conclusions ---- */

/* Compares one filter of F k functions with F filters of k functions. */
static void add_joined(lab_contest *contest, const lab_book *book, const char *joined, const char *id,
                       const char *split)
{
    for (size_t i = 0; multipliers[i]; i++)
        lab_contest_add(contest, lab_book_entry(book, "thesis-5.9", joined, multipliers[i]),
                        lab_book_entry(book, id, split, multipliers[i]));
}

static lab_holding judge_filters_or_functions(const lab_book *book, char *sentence, size_t room)
{
    static const char *const incremental[][4] = {{"6 HF", "1 filter 1.7 M", "3 HF", "2 filters 1.7 M"},
                                                 {"6 HF", "1 filter 2.0 M", "3 HF", "2 filters 2.0 M"},
                                                 {"6 HF", "2 filters 1.7 M", "4 HF", "3 filters 1.7 M"},
                                                 {"6 HF", "2 filters 2.0 M", "4 HF", "3 filters 2.0 M"}};
    lab_contest contest = {0, 0};
    add_joined(&contest, book, "6 HF", "thesis-5.18", "3 HF");
    add_joined(&contest, book, "8 HF", "thesis-5.18", "4 HF");
    add_joined(&contest, book, "10 HF", "thesis-5.18", "5 HF");
    add_joined(&contest, book, "9 HF", "thesis-5.19", "3 HF");
    for (size_t i = 0; i < sizeof incremental / sizeof *incremental; i++)
        lab_contest_add(&contest, lab_book_entry(book, "thesis-5.17", incremental[i][0], incremental[i][1]),
                        lab_book_entry(book, "thesis-5.17", incremental[i][2], incremental[i][3]));
    if (contest.pairs == 0)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "In %u pairs of cells, F filters of k functions and one of F k differ by at most %.1f standard "
             "deviations; in theory both lose f^(kF)",
             contest.pairs, contest.worst);
    return lab_contest_even(&contest) ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* Compares Jenkins's function with the others of a table; *lead becomes its lead over the closest of them. */
static void add_rivals(lab_contest *contest, double *lead, const lab_book *book, const char *id, const char *jenkins)
{
    const lab_table *table = lab_book_find(book, id);
    const lab_entry *ours = lab_book_entry(book, id, jenkins, "FP");
    for (size_t i = 0; table && i < table->rows; i++) {
        const char *row = table->entries[i * table->columns].row;
        const lab_entry *rival = strcmp(row, jenkins) != 0 ? lab_book_entry(book, id, row, "FP") : NULL;
        lab_contest_add(contest, ours, rival);
        if (ours && rival)
            *lead = fmin(*lead, lab_apart(rival, ours));
    }
}

static lab_holding judge_choice_of_function(const lab_book *book, char *sentence, size_t room)
{
    lab_contest contest = {0, 0};
    double lead = INFINITY;
    add_rivals(&contest, &lead, book, "thesis-5.1", "Jenkins");
    add_rivals(&contest, &lead, book, "thesis-5.2", "Jenkins (seeded)");
    add_rivals(&contest, &lead, book, "thesis-5.3", "Jenkins (seeded)");
    if (contest.pairs == 0)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "In %u comparisons, Jenkins differs from the other functions by at most %.1f standard deviations%s",
             contest.pairs, contest.worst,
             lab_contest_even(&contest) ? ": chance decides which one is ahead, and other runs would favour another"
                                        : "");
    return lead > LAB_Z_MOST ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_pages_missed(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *same = lab_book_entry(book, "thesis-fig-5.1", "3 HF", "same order");
    const lab_entry *other = lab_book_entry(book, "thesis-fig-5.1", "3 HF", "other order");
    if (!same || !other)
        return LAB_UNJUDGED;
    const double published = 0.064;
    bool right = fabs(same->measured - published) <= LAB_Z_MOST * lab_entry_spread(same) + 0.0005;
    bool matters = other->measured < 0.75 * same->measured;
    snprintf(sentence, room,
             "%.3g %% if both crawls meet the URLs in the same order, so that the same pages meet full filters twice, "
             "but %.3g %% if the second crawl has a different order",
             same->measured, other->measured);
    return !right ? LAB_DOES_NOT_HOLD : matters ? LAB_CONDITIONS : LAB_HOLDS;
}

/* ---- all of them ---- */

#define QUESTION "the thesis, section 1.5"

const lab_claim lab_thesis_claims[] = {
    {.id = "thesis-temporal",
     .source = QUESTION,
     .text = "New salts for a revisit reduce false positives",
     .evidence = "thesis-5.9 thesis-5.16",
     .judge = judge_temporal},
    {.id = "thesis-spatial",
     .source = QUESTION,
     .text = "Several filters with different salts reduce false positives",
     .evidence = "thesis-5.9 thesis-5.18",
     .judge = judge_spatial},
    {.id = "thesis-spatio-temporal",
     .source = QUESTION,
     .text = "Both strategies together reduce false positives more than each alone",
     .evidence = "thesis-5.16 thesis-5.18 thesis-5.20",
     .judge = judge_both_strategies},
    {.id = "thesis-salts",
     .source = QUESTION,
     .text = "One function with k salts is as good as k different functions",
     .evidence = "thesis-5.2 thesis-5.3 thesis-5.6 thesis-5.7",
     .judge = judge_salts},
    {.id = "thesis-filters-or-functions",
     .source = "the thesis, sections 5.8 and 6.4",
     .text = "F filters of k functions lose as many pages as one filter of F k functions",
     .evidence = "thesis-5.9 thesis-5.17 thesis-5.18 thesis-5.19",
     .judge = judge_filters_or_functions},
    {.id = "thesis-jenkins",
     .source = "the thesis, section 5.4.3",
     .text = "Jenkins's function performs best in the incremental tests",
     .evidence = "thesis-5.1 thesis-5.2 thesis-5.3",
     .judge = judge_choice_of_function},
    {.id = "thesis-pages-missed",
     .source = "the thesis, section 5.7.1",
     .text = "Two crawls with 3 functions and M = 2.0 miss some 640 pages in 1,000,000, 0.064 %",
     .evidence = "thesis-fig-5.1",
     .judge = judge_pages_missed},
    {.id = "thesis-delay",
     .source = "the thesis, section 4.2",
     .text = "A page that is falsely seen is fetched by a later crawl",
     .evidence = "further-delay",
     .judge = lab_claim_delay},
    {.id = "thesis-multiplier",
     .source = "the thesis, sections 5.6.2 and 6.1",
     .text = "It is better to increase M than the number of hash functions",
     .evidence = "further-equal-bits further-equal-bits-time",
     .judge = lab_claim_multiplier},
    {.id = "thesis-memory",
     .source = "the thesis, sections 5.5 and 6.1",
     .text = "A Bloom filter needs far less memory than an ArrayList or a HashSet",
     .evidence = "thesis-5.10 thesis-5.13",
     .judge = lab_claim_memory},
    {.id = "thesis-memory-filters",
     .source = "the thesis, section 5.5",
     .text = "Memory grows in proportion to the number of filters",
     .evidence = "thesis-5.10 thesis-5.11 thesis-5.12",
     .judge = lab_claim_memory_filters},
    {.id = "thesis-time-functions",
     .source = "the thesis, section 5.6.1",
     .text = "The time to add grows linearly with the number of functions",
     .evidence = "thesis-A.4",
     .judge = lab_claim_time_functions},
    {.id = "thesis-time-query",
     .source = "the thesis, sections 3.5.1 and 5.6.2",
     .text = "The time to query grows linearly with the number of functions",
     .evidence = "thesis-A.1 thesis-A.1-break",
     .judge = lab_claim_time_break},
    {.id = "thesis-time-multiplier",
     .source = "the thesis, section 6.1",
     .text = "A larger M takes hardly more time",
     .evidence = "further-equal-bits-time",
     .judge = lab_claim_time_multiplier},
    {.id = "thesis-hashset-time",
     .source = "the thesis, sections 5.6 and 6.1",
     .text = "A Bloom filter is slower than a HashSet",
     .evidence = "thesis-5.14 thesis-5.15",
     .judge = lab_claim_hashset_time},
    {.id = "thesis-list-time",
     .source = "the thesis, section 5.6",
     .text = "An ArrayList is fastest to add to, but too slow to query",
     .evidence = "thesis-5.14 thesis-5.15",
     .judge = lab_claim_list_time},
    {.id = "thesis-scalable",
     .source = "the thesis, section 7.2.1",
     .text = "If the number of URLs is unknown, new salts may gain as much with a scalable filter",
     .evidence = "further-scalable further-scalable-memory",
     .judge = lab_claim_scalable},
    {.id = "thesis-revisit",
     .source = "the thesis, section 7.2.1",
     .text = "The count of the last crawl tells how large the filter for the revisit should be",
     .evidence = "further-revisit",
     .judge = lab_claim_revisit},
    {.id = "thesis-genetic",
     .source = "the thesis, section 7.2.2",
     .text = "A hash function bred for the known URLs of a site has hardly any collisions among its new ones",
     .evidence = "further-genetic further-genetic-time",
     .judge = lab_claim_genetic},
    {.id = "thesis-processes",
     .source = "the thesis, section 6.4",
     .text = "Filters on several machines, with one that decides, do what one filter does with less memory on each",
     .evidence = "further-processes further-processes-time further-processes-messages",
     .judge = lab_claim_processes},
    {.id = NULL},
};
