/*
 * Which of these should I use, and what does it cost me? The answers that the tables of all kinds give, each with its
 * figures. What the documentation recommends is held against what was measured, like a paper's claim.
 */
#include <math.h>
#include <stdio.h>

#include "lab/kinds/kinds.h"

#define ONE_PAGE 10.0 /* per million: what a count of none or one cannot tell from nothing */

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

static lab_holding judge_default(const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {lost(book, "fingerprint", "64 bits"), lost(book, "fingerprint", "48 bits"),
                        grown(book, "fingerprint", "4 times as many"), needs(book, "fingerprint", "1 in 1,000,000"),
                        needs(book, "hashset", "1 in 1,000,000")};
    if (MISSING(f))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Fingerprint lost %.3g pages in a million in 64 bits per URL, %.3g in 48, and %.3g with four times the URLs "
        "that it was made for; for one in a million it takes %.0f bits, a hash table of the URLs %.0f",
        f[0], f[1], f[2], f[3], f[4]);
    return f[0] < ONE_PAGE && f[1] < ONE_PAGE && f[2] < ONE_PAGE && f[3] < f[4] / 10 ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_small(const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {needs(book, "blocked", "1 in 100"),           needs(book, "classic", "1 in 100"),
                        needs(book, "fingerprint", "1 in 100"),       time_of(book, "blocked", "look up, 16 bits"),
                        time_of(book, "classic", "look up, 16 bits"), time_of(book, "blocked", "add, 16 bits"),
                        time_of(book, "classic", "add, 16 bits")};
    if (MISSING(f))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "For one page in a hundred blocked takes %.1f bits per URL, classic %.1f, fingerprint %.1f; in 16 bits a "
             "question takes %.0f ns against classic's %.0f, an add %.0f against %.0f",
             f[0], f[1], f[2], f[3], f[4], f[5], f[6]);
    if (f[0] > 1.25 * f[1] || f[0] > f[2] || f[3] > f[4])
        return LAB_DOES_NOT_HOLD;
    return f[5] < f[6] ? LAB_HOLDS : LAB_CONDITIONS;
}

static lab_holding judge_papers(const lab_book *book, char *sentence, size_t room)
{
    static const char *const papers[] = {"spatial", "scalable", "eigen", "multilayer", "counting"};
    enum { PAPERS = sizeof papers / sizeof *papers };
    const lab_entry *classic = lab_book_entry(book, "kinds-lost", "classic", "8 bits"), *others[PAPERS];
    bool none_better = true;
    for (size_t i = 0; i < PAPERS; i++) {
        others[i] = lab_book_entry(book, "kinds-lost", papers[i], "8 bits");
        if (!classic || !others[i])
            return LAB_UNJUDGED;
        none_better &= others[i]->high >= classic->low;
    }
    int used = snprintf(sentence, room, "In 8 bits per URL classic lost %.0f pages in a million", classic->measured);
    for (size_t i = 0; i < PAPERS; i++)
        used += snprintf(sentence + used, room - (size_t)used, ", %s %.0f", papers[i], others[i]->measured);
    return none_better ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_deleting(const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {lost(book, "counting", "32 bits"), lost(book, "classic", "8 bits"),
                        lost(book, "classic", "32 bits"), lost(book, "fingerprint", "48 bits")};
    if (MISSING(f))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Counting lost %.0f pages in a million in 32 bits per URL, as classic does in 8 (%.0f); classic in 32 lost "
        "%.3g, and fingerprint, which deletes too, %.3g in 48",
        f[0], f[1], f[2], f[3]);
    return fabs(f[0] - f[1]) <= 0.1 * f[1] + ONE_PAGE ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_growth(const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {grown(book, "classic", "as many"),         grown(book, "classic", "2 times as many"),
                        grown(book, "classic", "4 times as many"), grown(book, "scalable", "4 times as many"),
                        grown(book, "blocked", "4 times as many"), grown(book, "fingerprint", "4 times as many")};
    if (MISSING(f))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Classic lost %.0f pages in a million of those that it was made for, %.0f of twice and %.0f of four times "
             "as many; of four times as many scalable lost %.0f, blocked %.0f, fingerprint %.3g",
             f[0], f[1], f[2], f[3], f[4], f[5]);
    return f[2] > 20 * fmax(f[3], f[4]) && f[2] > 20 * f[5] ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* By how much `told` is outside of the interval of what was counted. */
static double beyond(const lab_entry *lost, double told)
{
    return told > lost->high ? told / lost->high - 1 : told < lost->low ? lost->low / told - 1 : 0;
}

static lab_holding judge_told(const lab_book *book, char *sentence, size_t room)
{
    static const char *const kinds[] = {"classic", "spatial", "scalable", "blocked", "counting"};
    double off = 0, outside = 0, bound = lab_book_measured(book, "kinds-told", "multilayer", "8 bits");
    double counted = lost(book, "multilayer", "8 bits");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const lab_entry *truth = lab_book_entry(book, "kinds-lost", kinds[i], "8 bits");
        double told = lab_book_measured(book, "kinds-told", kinds[i], "8 bits");
        if (!truth || !(truth->measured > 0) || isnan(told))
            return LAB_UNJUDGED;
        off = fmax(off, fabs(told / truth->measured - 1));
        outside = fmax(outside, beyond(truth, told));
    }
    if (isnan(bound) || isnan(counted))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "In 8 bits per URL five kinds told what they had lost within %.1f %%; multilayer, which gives an upper "
             "bound, told %.0f pages in a million, and had lost %.0f",
             100 * off, bound, counted);
    return outside > 0.1 ? LAB_DOES_NOT_HOLD : bound > 2 * counted ? LAB_CONDITIONS : LAB_HOLDS;
}

/* ---- over time ---- */

#define FIXED "6 bits, same salts and order"
#define SHUFFLED "6 bits, same salts"
#define TEMPORAL "6 bits, new salts: temporal"
#define LARGER "12 bits, same salts"

static lab_holding judge_salts(const lab_book *book, char *sentence, size_t room)
{
    const double f[] = {never(book, TEMPORAL, "after 1"),  never(book, TEMPORAL, "after 3"),
                        never(book, SHUFFLED, "after 3"),  never(book, FIXED, "after 3"),
                        never(book, SHUFFLED, "after 10"), never(book, FIXED, "after 10")};
    if (MISSING(f) || !(f[0] > 0))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Of %.0f pages in a million that the first crawl lost, %.3g were left after three crawls with new salts, "
             "%.0f with the same salts in another order, %.0f in the same order; after ten crawls %.3g and %.0f of the "
             "latter two",
             f[0], f[1], f[2], f[3], f[4], f[5]);
    if (f[1] > f[2] || f[1] > f[3] / 10)
        return LAB_DOES_NOT_HOLD;
    return LAB_HOLDS;
}

static lab_holding judge_bits(const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *larger = lab_book_entry(book, "kinds-recrawl", LARGER, "after 1");
    const lab_entry *spatial = lab_book_entry(book, "kinds-recrawl", "2 x 6 bits, same salts: spatial", "after 1");
    const lab_entry *once = lab_book_entry(book, "kinds-recrawl", TEMPORAL, "after 1");
    const lab_entry *twice = lab_book_entry(book, "kinds-recrawl", TEMPORAL, "after 2");
    if (!larger || !spatial || !once || !twice || !(once->measured > 0))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "One crawl with 12 bits per URL left %.0f pages in a million, with two filters of 6 bits %.0f; with 6 bits "
        "and new salts %.0f were left after one crawl and %.0f after two",
        larger->measured, spatial->measured, once->measured, twice->measured);
    return larger->low <= 2 * twice->high && larger->low < once->measured / 10 ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_late(const lab_book *book, char *sentence, size_t room)
{
    double all = 0, last = lab_book_measured(book, "kinds-which", "last tenth", lab_which_columns[0]);
    const lab_entry *same = lab_book_entry(book, "kinds-which", "last tenth", lab_which_columns[1]);
    const lab_entry *other = lab_book_entry(book, "kinds-which", "last tenth", lab_which_columns[2]);
    for (size_t i = 0; lab_tenth_names[i]; i++)
        all += lab_book_measured(book, "kinds-which", lab_tenth_names[i], lab_which_columns[0]);
    if (!(all > 0) || !same || !other || (same->measured <= other->measured && same->high >= other->low))
        return LAB_UNJUDGED; /* the last: so few that nobody can tell */
    snprintf(sentence, room,
             "%.0f %% of what the first crawl lost was in its last tenth; of a million pages there %.0f were lost "
             "again in a second crawl of the same order, %.0f in one of another order",
             100 * last / all, same->measured, other->measured);
    return last > 0.2 * all && same->measured > other->measured ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

const lab_claim lab_kinds_claims[] = {
    {.id = "kinds-default",
     .source = "vidi",
     .text = "Unless memory is very short, use fingerprint: it loses practically nothing, and it grows",
     .evidence = "kinds-lost kinds-needs kinds-growth",
     .judge = judge_default},
    {.id = "kinds-small",
     .source = "vidi",
     .text = "Where one page in a hundred may be lost, use blocked: little more memory than the smallest, and faster",
     .evidence = "kinds-needs kinds-time",
     .judge = judge_small},
    {.id = "kinds-papers",
     .source = "vidi",
     .text = "In the same memory none of the papers' kinds loses fewer pages than a plain Bloom filter",
     .evidence = "kinds-lost",
     .judge = judge_papers},
    {.id = "kinds-deleting",
     .source = "vidi",
     .text = "Counters cost four times the memory of bits for the same losses",
     .evidence = "kinds-lost",
     .judge = judge_deleting},
    {.id = "kinds-growth",
     .source = "vidi",
     .text = "If nobody knows how many URLs will come, use a kind that grows",
     .evidence = "kinds-growth",
     .judge = judge_growth},
    {.id = "kinds-told",
     .source = "vidi",
     .text = "What a set says it has lost is what it has lost",
     .evidence = "kinds-told kinds-lost",
     .judge = judge_told},
    {.id = "kinds-salts",
     .source = "vidi, after the thesis, section 4.2",
     .text = "New salts for each crawl bring back what the last one lost",
     .evidence = "kinds-recrawl",
     .judge = judge_salts},
    {.id = "kinds-bits",
     .source = "vidi, after the thesis, section 4.2",
     .text = "Twice the bits do in one crawl what new salts do in two",
     .evidence = "kinds-recrawl",
     .judge = judge_bits},
    {.id = "kinds-late",
     .source = "vidi, after the thesis, section 5.7.1",
     .text =
         "The pages that a crawl loses are those that it meets late; another order in the next one spreads the delay",
     .evidence = "kinds-which",
     .judge = judge_late},
    {.id = NULL},
};
