/*
 * What should a crawler that comes back do with its filter? The recommendation, and the figures behind it, as claims.
 * Bounds ("more than ten times") are in the claims' texts; a bound is reached or missed by a whole interval.
 */
#include <math.h>
#include <stdio.h>

#include "lab/judge/judging.h"
#include "lab/revisits/revisits.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

/* A ratio that a claim bounds: above `bound`, or not. */
typedef struct bounded {
    const char *table, *row, *column, *base_row, *base_column;
    double bound;
    bool above;
} bounded;

/*
 * Judges all bounds together: *holding is LAB_HOLDS if every interval is on its side, and LAB_DOES_NOT_HOLD if one is
 * on the other. values[2 i] and values[2 i + 1] become the two figures. Returns false if the book lacks one.
 */
static bool judge_bounds(const lab_book *book, const bounded *list, size_t count, double *values, lab_holding *holding)
{
    *holding = LAB_HOLDS;
    for (size_t i = 0; i < count; i++) {
        const lab_entry *a = lab_book_entry(book, list[i].table, list[i].row, list[i].column);
        const lab_entry *b = lab_book_entry(book, list[i].table, list[i].base_row, list[i].base_column);
        if (!a || !b)
            return false;
        values[2 * i] = a->measured;
        values[2 * i + 1] = b->measured;
        lab_ratio ratio = lab_ratio_of_rates_among(a, b, count);
        lab_comparison comparison = ratio.known ? lab_compare(lab_ratio_to(ratio, list[i].bound), 0) : LAB_OPEN;
        if (comparison == (list[i].above ? LAB_NOT_MORE : LAB_MORE))
            *holding = LAB_DOES_NOT_HOLD;
        else if (comparison == LAB_OPEN && *holding == LAB_HOLDS)
            *holding = LAB_UNJUDGED;
    }
    return true;
}

/* ---- totals ---- */

static lab_holding judge_best(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const tables[] = {"revisits-churn-0", "revisits-churn-1", "revisits-churn-10",
                                         "revisits-churn-50"};
    static const char *const churns[] = {"0 %", "1 %", "10 %", "50 %"};
    static const char *const column = "20 crawls";
    const size_t pairs = COUNT(tables) * 5; /* five other policies in each */
    lab_outcomes worse = {0};
    int used = snprintf(sentence, room,
                        "With 8 bits per page and new salts each crawl, 20 crawls missed of a million page-crawls");
    for (size_t i = 0; i < COUNT(tables); i++) {
        const lab_entry *each = lab_book_entry(book, tables[i], LAB_EACH_CRAWL, column);
        double least = INFINITY;
        for (size_t j = 0; lab_revisits_policies[j]; j++) {
            const lab_entry *other = lab_book_entry(book, tables[i], lab_revisits_policies[j], column);
            if (!each || !other) {
                sentence[0] = 0;
                return LAB_UNJUDGED;
            }
            if (each == other)
                continue;
            lab_outcomes_add(&worse, lab_compare(lab_ratio_of_rates_among(each, other, pairs), claim->margin));
            least = fmin(least, other->measured);
        }
        used +=
            snprintf(sentence + used, room - (size_t)used, "%s %.0f with a churn of %s (the best other policy: %.0f)",
                     i ? "," : "", each->measured, churns[i], least);
    }
    return lab_holds_if_none_more(&worse);
}

static lab_holding judge_total(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const rows[] = {LAB_KEPT, LAB_EVERY_5, LAB_EVERY_2, LAB_EMPTIED};
    static const char *const id = "revisits-4-bits", *const column = "churn 0 %";
    const lab_entry *each = lab_book_entry(book, id, LAB_EACH_CRAWL, column);
    lab_contest contest = {.count = 0};
    for (size_t i = 0; i < COUNT(rows); i++)
        lab_contest_add(&contest, each, lab_book_entry(book, id, rows[i], column), id);
    if (contest.count < COUNT(rows))
        return LAB_UNJUDGED;
    lab_contest_judge(&contest, claim->margin);
    snprintf(sentence, room,
             "With 4 bits per page and pages that never change, %.0f page-crawls in a million were missed with new "
             "salts each crawl, %.0f with new salts every 5 crawls, %.0f with a filter that was kept and %.0f with one "
             "that was emptied%s",
             each->measured, lab_book_measured(book, id, LAB_EVERY_5, column),
             lab_book_measured(book, id, LAB_KEPT, column), lab_book_measured(book, id, LAB_EMPTIED, column),
             contest.left_out);
    if (contest.relation == LAB_EQUAL) /* a policy without power would be a gap in the claim */
        return contest.judged == contest.count ? LAB_HOLDS : LAB_UNJUDGED;
    return contest.relation == LAB_TOO_LITTLE ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_churn(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "revisits-churn-10", *const column = "20 crawls";
    const bounded list[] = {{id, LAB_KEPT, column, LAB_EACH_CRAWL, column, 10, true}};
    double f[2 * COUNT(list)];
    lab_holding holding;
    (void)claim;
    if (!judge_bounds(book, list, COUNT(list), f, &holding))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 8 bits per page and a churn of 10 %%, a filter that was kept for 20 crawls missed %.0f page-crawls "
             "in a million, one with new salts each crawl %.0f",
             f[0], f[1]);
    return holding;
}

static lab_holding judge_every(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "revisits-churn-10", *const column = "20 crawls";
    const bounded list[] = {{id, LAB_EVERY_2, column, LAB_EACH_CRAWL, column, 1.5, false},
                            {id, LAB_EVERY_5, column, LAB_EACH_CRAWL, column, 2, true}};
    double f[2 * COUNT(list)];
    lab_holding holding;
    (void)claim;
    if (!judge_bounds(book, list, COUNT(list), f, &holding))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 8 bits per page and a churn of 10 %%, %.0f page-crawls in a million were missed with new salts each "
             "crawl, %.0f with new salts every second and %.0f every fifth crawl",
             f[1], f[0], f[2]);
    return holding;
}

static lab_holding judge_epochs(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "revisits-churn-10", *const column = "20 crawls", *const many = "revisits-16-bits",
                             *const churn = "churn 10 %";
    const bounded list[] = {{id, LAB_TWO_EPOCHS, column, LAB_EACH_CRAWL, column, 5, true},
                            {many, LAB_TWO_EPOCHS, churn, LAB_EACH_CRAWL, churn, 5, true}};
    double f[2 * COUNT(list)];
    lab_holding holding;
    (void)claim;
    if (!judge_bounds(book, list, COUNT(list), f, &holding))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 8 bits per page two epochs missed %.0f page-crawls in a million, one epoch in all of the memory "
             "%.0f; with 16 bits %.0f and %.3g",
             f[0], f[1], f[2], f[3]);
    return holding;
}

/* ---- the tail ---- */

static lab_holding judge_again(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "revisits-never", *const once = "1 crawl", *const twice = "2 crawls";
    const bounded list[] = {{id, LAB_EACH_CRAWL, twice, LAB_EACH_CRAWL, once, 0.1, false},
                            {id, LAB_EMPTIED, twice, LAB_EMPTIED, once, 0.2, true}};
    double f[2 * COUNT(list)];
    lab_holding holding;
    (void)claim;
    if (!judge_bounds(book, list, COUNT(list), f, &holding))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Of a million pages with 4 bits each, one crawl missed %.0f; two crawls with new salts both missed %.0f, "
             "and two with the same salts in a different order %.0f",
             f[1], f[0], f[2]);
    return holding;
}

static lab_holding judge_rotations(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *seldom = lab_book_entry(book, "revisits-never", LAB_EVERY_5, "10 crawls");
    const lab_entry *each = lab_book_entry(book, "revisits-never", LAB_EACH_CRAWL, "2 crawls");
    if (!seldom || !each)
        return LAB_UNJUDGED;
    lab_ratio ratio = lab_ratio_of_rates(seldom, each);
    char text[LAB_RATIO_ROOM];
    snprintf(sentence, room,
             "Of a million pages, ten crawls with new salts every fifth crawl all missed %.0f, and two crawls with new "
             "salts each time %.0f; the ratio is %s",
             seldom->measured, each->measured, lab_ratio_text(ratio, text));
    lab_relation relation = lab_relate(ratio, claim->margin);
    return lab_holds_if_equal(relation);
}

static lab_holding judge_order(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "revisits-never", *const twice = "2 crawls";
    const bounded list[] = {{id, LAB_EACH_IN_ORDER, twice, LAB_EACH_CRAWL, twice, 1.5, true}};
    double f[2 * COUNT(list)];
    lab_holding holding;
    (void)claim;
    if (!judge_bounds(book, list, COUNT(list), f, &holding))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Of a million pages, two crawls with new salts both missed %.0f if they had the same order, and %.0f if "
             "they had different orders",
             f[0], f[1]);
    return holding;
}

static lab_holding judge_most(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "revisits-half", *const column = "10 crawls";
    const bounded list[] = {{id, LAB_EACH_CRAWL, column, LAB_KEPT, column, 1e-3, false},
                            {id, LAB_EMPTIED, column, LAB_KEPT, column, 0.1, true}};
    double f[2 * COUNT(list)];
    lab_holding holding;
    (void)claim;
    if (!judge_bounds(book, list, COUNT(list), f, &holding))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Of a million pages, more than half of ten crawls missed %.3g with new salts each crawl, %.0f with a "
             "filter that was emptied and kept its salts, and %.0f with one that was never emptied",
             f[0], f[2], f[1]);
    return holding;
}

/* ---- memory: chance plays no part, apart from few URLs, where a set's other memory matters ---- */

#define NEARLY_ALL 1.2

static lab_holding judge_memory(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "revisits-bytes", *const column = "peak memory";
    const double one = lab_book_measured(book, id, "one filter, kept", column);
    const double later = lab_book_measured(book, id, "vidi_rotate, VIDI_TOUCH_LATER", column);
    const double rotated = lab_book_measured(book, id, "vidi_rotate", column);
    const double previous = lab_book_measured(book, id, "vidi_rotate, VIDI_KEEP_PREVIOUS", column);
    (void)claim;
    if (isnan(one) || isnan(later) || isnan(rotated) || isnan(previous) || one > NEARLY_ALL)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With vidi_rotate a set took up to %.2f times the memory of a filter, with VIDI_KEEP_PREVIOUS %.2f times "
             "and with VIDI_TOUCH_LATER %.2f times",
             rotated, previous, later);
    return rotated >= 2 && previous >= 3 && later < NEARLY_ALL ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

const lab_claim lab_revisits_claims[] = {
    {.id = "revisits-best",
     .source = "vidi",
     .text = "Begin each crawl with an empty filter and new salts, in all the memory there is: no other policy misses "
             "fewer page-crawls",
     .evidence = "revisits-churn-0 revisits-churn-1 revisits-churn-10 revisits-churn-50",
     .judge = judge_best,
     .margin = 0.15,
     .margin_reason = "a filter that is kept is drawn once in a run, so a hundred runs tell its losses to some 5 %"},
    {.id = "revisits-total",
     .source = "vidi",
     .text = "If pages never change, new salts do not change how many page-crawls are missed, only which",
     .evidence = "revisits-4-bits",
     .judge = judge_total,
     .margin = 0.05,
     .margin_reason = "a filter that is kept is drawn once in a run"},
    {.id = "revisits-churn",
     .source = "vidi",
     .text = "If a tenth of the pages is replaced between crawls, a filter that is kept for 20 crawls misses more than "
             "ten times as many page-crawls as one with new salts each crawl",
     .evidence = "revisits-churn-10",
     .judge = judge_churn},
    {.id = "revisits-every",
     .source = "vidi",
     .text =
         "If a tenth of the pages is replaced between crawls, new salts every second crawl miss less than 1.5 times "
         "as many page-crawls as new salts each crawl, and new salts every fifth crawl more than twice as many",
     .evidence = "revisits-churn-10",
     .judge = judge_every},
    {.id = "revisits-epochs",
     .source = "vidi",
     .text = "Keeping the previous epoch in the same memory makes a crawl miss more than five times as many pages",
     .evidence = "revisits-churn-10 revisits-16-bits",
     .judge = judge_epochs},
    {.id = "revisits-again",
     .source = "vidi, after the thesis, section 4.2",
     .text =
         "With new salts, the next crawl misses fewer than one in ten of the pages that a crawl has missed; with the "
         "same salts more than one in five, even in a different order",
     .evidence = "revisits-never",
     .judge = judge_again},
    {.id = "revisits-rotations",
     .source = "vidi",
     .text = "What counts for a page that was missed is how often the salts change, not how often the site is crawled",
     .evidence = "revisits-never",
     .judge = judge_rotations,
     .margin = 0.15,
     .margin_reason = "both miss two pages in a thousand"},
    {.id = "revisits-order",
     .source = "vidi, after the thesis, section 5.7.1",
     .text =
         "Even with new salts, the same order makes two crawls miss more than one and a half times as many pages as "
         "different orders do",
     .evidence = "revisits-never",
     .judge = judge_order},
    {.id = "revisits-most",
     .source = "vidi",
     .text = "With new salts hardly any page is missed by most crawls: fewer than a thousandth of those that a kept "
             "filter makes them miss; emptying without new salts leaves more than a tenth",
     .evidence = "revisits-half",
     .judge = judge_most},
    {.id = "revisits-memory",
     .source = "vidi",
     .text =
         "New salts take no more memory than the same if it is allocated when it is first written to; otherwise two "
         "filters exist for a moment, and three if the previous epoch is kept",
     .evidence = "revisits-bytes",
     .judge = judge_memory},
    {.id = NULL},
};
