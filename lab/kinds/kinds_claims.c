/*
 * Which kind should I use, and what does it cost me? These claims answer with figures from the tables of all kinds. The
 * recommendations of the documentation are judged by our measurements, like the claims of a paper.
 */
#include <math.h>
#include <stdio.h>

#include "lab/judge/judging.h"
#include "lab/kinds/kinds.h"

#define HARDLY_ANY 10.0 /* pages lost per million */
#define FAR_FEWER 20.0  /* times fewer pages that kinds that grow lose */
#define LATE_SHARE 0.2  /* of the pages lost, at least, are in the last tenth: twice its share */

static double lost(const lab_book *book, const char *kind, const char *size)
{
    return lab_book_measured(book, "kinds-lost", kind, size);
}

static double needs(const lab_book *book, const char *kind, const char *error)
{
    return lab_book_measured(book, "kinds-needs", kind, error);
}

static double time_of(const lab_book *book, const char *kind, const char *what)
{
    return lab_book_measured(book, "kinds-time", kind, what);
}

static double grown(const lab_book *book, const char *kind, const char *load)
{
    return lab_book_measured(book, "kinds-growth", kind, load);
}

static double never(const lab_book *book, const char *strategy, const char *crawl)
{
    return lab_book_measured(book, "kinds-recrawl", strategy, crawl);
}

static bool missing(const double *figures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(figures[i]))
            return true;
    return false;
}

#define MISSING(figures) missing(figures, sizeof(figures) / sizeof *(figures))

/* ---- which kind ---- */

static lab_holding judge_default(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {lost(book, "fingerprint", "64 bits"), lost(book, "fingerprint", "48 bits"),
                        grown(book, "fingerprint", "4 times as many"), needs(book, "fingerprint", "1 in 1,000,000"),
                        needs(book, "hashset", "1 in 1,000,000")};
    if (MISSING(f))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Fingerprint lost %.3g pages in a million with 64 bits per URL, %.3g with 48, and %.3g with four times the "
        "URLs that it was made for; for one in a million it takes %.0f bits, a hash table of the URLs %.0f",
        f[0], f[1], f[2], f[3], f[4]);
    const lab_entry *counted[] = {lab_book_entry(book, "kinds-lost", "fingerprint", "64 bits"),
                                  lab_book_entry(book, "kinds-lost", "fingerprint", "48 bits"),
                                  lab_book_entry(book, "kinds-growth", "fingerprint", "4 times as many")};
    lab_entry hardly_any = lab_exact_entry(HARDLY_ANY);
    bool open = false, many = f[3] >= f[4] / 10;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++) {
        lab_comparison comparison = lab_compare(lab_ratio_of_rates_among(counted[i], &hardly_any, 3), claim->margin);
        open |= comparison == LAB_OPEN;
        many |= comparison == LAB_MORE;
    }
    return many ? LAB_DOES_NOT_HOLD : open ? LAB_UNJUDGED : LAB_HOLDS;
}

/* The time of blocked, divided by that of classic. */
static lab_relation time_relation(const lab_claim *claim, const lab_book *book, const char *what)
{
    lab_cell_name blocked = {"kinds-time", "blocked", what}, classic = {"kinds-time", "classic", what};
    return lab_relate(lab_ratio_of_times(book, &blocked, &classic), claim->margin);
}

static lab_holding judge_small(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {needs(book, "blocked", "1 in 100"),           needs(book, "classic", "1 in 100"),
                        needs(book, "fingerprint", "1 in 100"),       time_of(book, "blocked", "look up, 16 bits"),
                        time_of(book, "classic", "look up, 16 bits"), time_of(book, "blocked", "add, 16 bits"),
                        time_of(book, "classic", "add, 16 bits")};
    if (MISSING(f))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "To lose one page in a hundred, blocked takes %.1f bits per URL, classic %.1f, fingerprint %.1f; with 16 bits "
        "a lookup takes %.0f ns (classic %.0f), an add %.0f (classic %.0f)",
        f[0], f[1], f[2], f[3], f[4], f[5], f[6]);
    lab_relation asking = time_relation(claim, book, "look up, 16 bits"),
                 adding = time_relation(claim, book, "add, 16 bits");
    if (f[0] > 1.25 * f[1] || f[0] > f[2] || asking == LAB_EQUAL || asking == LAB_ABOVE)
        return LAB_DOES_NOT_HOLD;
    if (asking == LAB_TOO_LITTLE || adding == LAB_TOO_LITTLE)
        return LAB_UNJUDGED;
    return adding == LAB_BELOW ? LAB_HOLDS : LAB_CONDITIONS;
}

static lab_holding judge_papers(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const papers[] = {"spatial", "scalable", "eigen", "multilayer", "counting"};
    enum { PAPERS = sizeof papers / sizeof *papers };
    const lab_entry *classic = lab_book_entry(book, "kinds-lost", "classic", "8 bits"), *others[PAPERS];
    lab_outcomes better = {0};
    for (size_t i = 0; i < PAPERS; i++) {
        others[i] = lab_book_entry(book, "kinds-lost", papers[i], "8 bits");
        if (!classic || !others[i])
            return LAB_UNJUDGED;
        lab_outcomes_add(&better, lab_compare(lab_ratio_of_rates_among(classic, others[i], PAPERS), claim->margin));
    }
    int used = snprintf(sentence, room, "With 8 bits per URL classic lost %.0f pages in a million", classic->measured);
    for (size_t i = 0; i < PAPERS; i++)
        used += snprintf(sentence + used, room - (size_t)used, ", %s %.0f", papers[i], others[i]->measured);
    return lab_holds_if_none_more(&better);
}

static lab_holding judge_deleting(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {lost(book, "counting", "32 bits"), lost(book, "classic", "8 bits"),
                        lost(book, "classic", "32 bits"), lost(book, "fingerprint", "48 bits")};
    if (MISSING(f))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Counting lost %.0f pages in a million with 32 bits per URL, as classic does with 8 (%.0f); classic lost %.3g "
        "with 32, and fingerprint, which can also delete, %.3g with 48",
        f[0], f[1], f[2], f[3]);
    lab_relation relation = lab_relate(lab_ratio_of_rates(lab_book_entry(book, "kinds-lost", "counting", "32 bits"),
                                                          lab_book_entry(book, "kinds-lost", "classic", "8 bits")),
                                       claim->margin);
    return lab_holds_if_equal(relation);
}

static lab_holding judge_growth(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {grown(book, "classic", "as many"),         grown(book, "classic", "2 times as many"),
                        grown(book, "classic", "4 times as many"), grown(book, "scalable", "4 times as many"),
                        grown(book, "blocked", "4 times as many"), grown(book, "fingerprint", "4 times as many")};
    if (MISSING(f))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Classic lost %.0f pages in a million with the number of URLs that it was made for, %.0f with twice and %.0f "
        "with four times as many; with four times as many scalable lost %.0f, blocked %.0f, fingerprint %.3g",
        f[0], f[1], f[2], f[3], f[4], f[5]);
    static const char *const growing[] = {"scalable", "blocked", "fingerprint"};
    enum { GROWING = sizeof growing / sizeof *growing };
    static const char *const id = "kinds-growth", *const column = "4 times as many";
    const lab_entry *classic = lab_book_entry(book, id, "classic", column);
    lab_outcomes too_many = {0};
    for (size_t i = 0; i < GROWING; i++) {
        lab_ratio share = lab_ratio_of_rates_among(lab_book_entry(book, id, growing[i], column), classic, GROWING);
        lab_outcomes_add(&too_many, lab_compare(lab_ratio_to(share, 1.0 / FAR_FEWER), claim->margin));
    }
    return lab_holds_if_none_more(&too_many);
}

static lab_holding judge_told(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const kinds[] = {"classic", "spatial", "scalable", "blocked", "counting"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    double off = 0, bound = lab_book_measured(book, "kinds-told", "multilayer", "8 bits");
    double counted = lost(book, "multilayer", "8 bits");
    lab_contest contest = {.count = 0};
    lab_entry told[KINDS];
    for (size_t i = 0; i < KINDS; i++) {
        const lab_entry *truth = lab_book_entry(book, "kinds-lost", kinds[i], "8 bits");
        told[i] = lab_exact_entry(lab_book_measured(book, "kinds-told", kinds[i], "8 bits"));
        if (!truth || !(truth->measured > 0) || isnan(told[i].measured))
            return LAB_UNJUDGED;
        told[i].row = kinds[i];
        told[i].column = "8 bits";
        off = fmax(off, fabs(told[i].measured / truth->measured - 1));
        lab_contest_add(&contest, truth, &told[i], "kinds-told");
    }
    if (isnan(bound) || isnan(counted))
        return LAB_UNJUDGED;
    lab_contest_judge(&contest, claim->margin);
    snprintf(sentence, room,
             "With 8 bits per URL five kinds reported their losses within %.1f %%; multilayer, which reports an upper "
             "bound, reported %.0f pages in a million and had lost %.0f%s",
             100 * off, bound, counted, contest.left_out);
    if (contest.relation != LAB_EQUAL)
        return contest.relation == LAB_TOO_LITTLE ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
    lab_entry told_bound = lab_exact_entry(bound);
    lab_ratio excess = lab_ratio_of_rates(&told_bound, lab_book_entry(book, "kinds-lost", "multilayer", "8 bits"));
    return lab_compare(lab_ratio_to(excess, 2), 0) == LAB_MORE ? LAB_CONDITIONS : LAB_HOLDS;
}

/* ---- over time ---- */

#define FIXED "6 bits, same salts and order"
#define SHUFFLED "6 bits, same salts"
#define TEMPORAL "6 bits, new salts: temporal"
#define LARGER "12 bits, same salts"

static lab_holding judge_salts(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {never(book, TEMPORAL, "after 1"),  never(book, TEMPORAL, "after 3"),
                        never(book, SHUFFLED, "after 3"),  never(book, FIXED, "after 3"),
                        never(book, SHUFFLED, "after 10"), never(book, FIXED, "after 10")};
    if (MISSING(f) || !(f[0] > 0))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Of %.0f pages in a million that the first crawl lost, %.3g were still lost after three crawls with new salts, "
        "%.0f with the same salts in a different order and %.0f in the same order; after ten crawls the latter two "
        "had %.3g and %.0f left",
        f[0], f[1], f[2], f[3], f[4], f[5]);
    static const char *const id = "kinds-recrawl", *const column = "after 3";
    const lab_entry *temporal = lab_book_entry(book, id, TEMPORAL, column);
    lab_comparison than_shuffled =
        lab_compare(lab_ratio_of_rates_among(temporal, lab_book_entry(book, id, SHUFFLED, column), 2), claim->margin);
    lab_ratio to_fixed = lab_ratio_of_rates_among(temporal, lab_book_entry(book, id, FIXED, column), 2);
    lab_comparison than_fixed = lab_compare(lab_ratio_to(to_fixed, 0.1), claim->margin);
    if (than_shuffled == LAB_MORE || than_fixed == LAB_MORE)
        return LAB_DOES_NOT_HOLD;
    return than_shuffled == LAB_OPEN || than_fixed == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

static lab_holding judge_bits(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *larger = lab_book_entry(book, "kinds-recrawl", LARGER, "after 1");
    const lab_entry *spatial = lab_book_entry(book, "kinds-recrawl", "2 x 6 bits, same salts: spatial", "after 1");
    const lab_entry *once = lab_book_entry(book, "kinds-recrawl", TEMPORAL, "after 1");
    const lab_entry *twice = lab_book_entry(book, "kinds-recrawl", TEMPORAL, "after 2");
    if (!larger || !spatial || !once || !twice || !(once->measured > 0))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "One crawl with 12 bits per URL lost %.0f pages in a million, with two filters of 6 bits %.0f; with 6 bits and "
        "new salts %.0f were lost after one crawl and %.0f after two",
        larger->measured, spatial->measured, once->measured, twice->measured);
    lab_comparison than_twice = lab_compare(lab_ratio_of_rates_among(larger, twice, 2), claim->margin);
    lab_comparison than_once = lab_compare(lab_ratio_to(lab_ratio_of_rates_among(larger, once, 2), 0.1), 0);
    if (than_twice == LAB_MORE || than_once == LAB_MORE)
        return LAB_DOES_NOT_HOLD;
    return than_twice == LAB_OPEN || than_once == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

/* The sum of a column over all tenths but the last; its measured value is NAN if one is missing. */
static lab_entry all_but_the_last(const lab_book *book, const char *column)
{
    lab_entry sum = {.runs = 0};
    double squares = 0;
    for (size_t i = 0; i + 1 < LAB_TENTHS; i++) {
        const lab_entry *tenth = lab_book_entry(book, "kinds-which", lab_tenth_names[i], column);
        if (!tenth)
            return (lab_entry){.measured = (double)NAN};
        sum.measured += tenth->measured;
        sum.runs = tenth->runs;
        squares += pow(tenth->high - tenth->measured, 2);
    }
    sum.low = fmax(0, sum.measured - sqrt(squares));
    sum.high = sum.measured + sqrt(squares);
    return sum;
}

static lab_holding judge_late(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *last = lab_book_entry(book, "kinds-which", "last tenth", lab_which_columns[0]);
    const lab_entry *same = lab_book_entry(book, "kinds-which", "last tenth", lab_which_columns[1]);
    const lab_entry *other = lab_book_entry(book, "kinds-which", "last tenth", lab_which_columns[2]);
    lab_entry before = all_but_the_last(book, lab_which_columns[0]);
    if (!last || !same || !other || !(last->measured + before.measured > 0))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "%.0f %% of the pages that the first crawl lost were in its last tenth; of a million pages there, a second "
        "crawl in the same order lost %.0f again, one in a different order %.0f",
        100 * last->measured / (last->measured + before.measured), same->measured, other->measured);
    lab_comparison order = lab_compare(lab_ratio_of_rates_among(same, other, 2), claim->margin);
    lab_ratio to_others = lab_ratio_to(lab_ratio_of_rates_among(last, &before, 2), LATE_SHARE / (1 - LATE_SHARE));
    lab_comparison late = lab_compare(to_others, 0);
    if (late == LAB_NOT_MORE || order == LAB_NOT_MORE)
        return LAB_DOES_NOT_HOLD;
    return late == LAB_OPEN || order == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

const lab_claim lab_kinds_claims[] = {
    {.id = "kinds-default",
     .source = "vidi",
     .text = "Unless memory is very scarce, use fingerprint: it loses practically nothing, and it grows",
     .evidence = "kinds-lost kinds-needs kinds-growth",
     .judge = judge_default},
    {.id = "kinds-small",
     .source = "vidi",
     .text = "If one page in a hundred may be lost, use blocked: it takes little more memory than the smallest, and is "
             "faster",
     .evidence = "kinds-needs kinds-time",
     .judge = judge_small,
     .margin = LAB_TIME_MARGIN},
    {.id = "kinds-papers",
     .source = "vidi",
     .text = "With the same memory, none of the papers' kinds loses fewer pages than a plain Bloom filter",
     .evidence = "kinds-lost",
     .judge = judge_papers,
     .margin = 0.1,
     .margin_reason = "the table has a tenth of the URLs and ten runs"},
    {.id = "kinds-deleting",
     .source = "vidi",
     .text = "Counters cost four times the memory of bits for the same losses",
     .evidence = "kinds-lost",
     .judge = judge_deleting,
     .margin = 0.1,
     .margin_reason = "the table has a tenth of the URLs and ten runs"},
    {.id = "kinds-growth",
     .source = "vidi",
     .text = "If you do not know how many URLs will come, use a kind that grows",
     .evidence = "kinds-growth",
     .judge = judge_growth},
    {.id = "kinds-told",
     .source = "vidi",
     .text = "A set reports its losses correctly",
     .evidence = "kinds-told kinds-lost",
     .judge = judge_told,
     .margin = 0.1,
     .margin_reason = "the table has a tenth of the URLs and ten runs"},
    {.id = "kinds-salts",
     .source = "vidi, after the thesis, section 4.2",
     .text = "New salts for each crawl recover the pages that the last one lost",
     .evidence = "kinds-recrawl",
     .judge = judge_salts},
    {.id = "kinds-bits",
     .source = "vidi, after the thesis, section 4.2",
     .text = "Twice the bits achieve in one crawl what new salts achieve in two",
     .evidence = "kinds-recrawl",
     .judge = judge_bits,
     .margin = 1,
     .margin_reason = "a factor of two: both lose a few pages in a million"},
    {.id = "kinds-late",
     .source = "vidi, after the thesis, section 5.7.1",
     .text = "A crawl loses the pages that it meets late; a different order in the next crawl spreads the delay",
     .evidence = "kinds-which",
     .judge = judge_late,
     .margin = LAB_RATE_MARGIN},
    {.id = NULL},
};
