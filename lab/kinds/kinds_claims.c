/*
 * Which kind should I use, and what does it cost me? These claims answer with figures from the tables of all kinds. The
 * recommendations of the documentation are judged by our measurements, like the claims of a paper.
 */
#include <math.h>
#include <stdio.h>

#include "lab/kinds/kinds.h"

#define ONE_PAGE 10.0 /* per million: counts of zero or one cannot be distinguished */

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
        "Fingerprint lost %.3g pages in a million with 64 bits per URL, %.3g with 48, and %.3g with four times the "
        "URLs that it was made for; for one in a million it takes %.0f bits, a hash table of the URLs %.0f",
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
    snprintf(
        sentence, room,
        "To lose one page in a hundred, blocked takes %.1f bits per URL, classic %.1f, fingerprint %.1f; with 16 bits "
        "a lookup takes %.0f ns (classic %.0f), an add %.0f (classic %.0f)",
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
    int used = snprintf(sentence, room, "With 8 bits per URL classic lost %.0f pages in a million", classic->measured);
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
        "Counting lost %.0f pages in a million with 32 bits per URL, as classic does with 8 (%.0f); classic lost %.3g "
        "with 32, and fingerprint, which can also delete, %.3g with 48",
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
    snprintf(
        sentence, room,
        "Classic lost %.0f pages in a million with the number of URLs that it was made for, %.0f with twice and %.0f "
        "with four times as many; with four times as many scalable lost %.0f, blocked %.0f, fingerprint %.3g",
        f[0], f[1], f[2], f[3], f[4], f[5]);
    return f[2] > 20 * fmax(f[3], f[4]) && f[2] > 20 * f[5] ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* The distance of `told` from the interval of the count; 0 if it is inside. */
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
             "With 8 bits per URL five kinds reported their losses within %.1f %%; multilayer, which reports an upper "
             "bound, reported %.0f pages in a million and had lost %.0f",
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
    snprintf(
        sentence, room,
        "Of %.0f pages in a million that the first crawl lost, %.3g were still lost after three crawls with new salts, "
        "%.0f with the same salts in a different order and %.0f in the same order; after ten crawls the latter two "
        "had %.3g and %.0f left",
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
        "One crawl with 12 bits per URL lost %.0f pages in a million, with two filters of 6 bits %.0f; with 6 bits and "
        "new salts %.0f were lost after one crawl and %.0f after two",
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
        return LAB_UNJUDGED; /* the last condition: the counts are too small to tell */
    snprintf(
        sentence, room,
        "%.0f %% of the pages that the first crawl lost were in its last tenth; of a million pages there, a second "
        "crawl in the same order lost %.0f again, one in a different order %.0f",
        100 * last / all, same->measured, other->measured);
    return last > 0.2 * all && same->measured > other->measured ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
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
     .judge = judge_small},
    {.id = "kinds-papers",
     .source = "vidi",
     .text = "With the same memory, none of the papers' kinds loses fewer pages than a plain Bloom filter",
     .evidence = "kinds-lost",
     .judge = judge_papers},
    {.id = "kinds-deleting",
     .source = "vidi",
     .text = "Counters cost four times the memory of bits for the same losses",
     .evidence = "kinds-lost",
     .judge = judge_deleting},
    {.id = "kinds-growth",
     .source = "vidi",
     .text = "If you do not know how many URLs will come, use a kind that grows",
     .evidence = "kinds-growth",
     .judge = judge_growth},
    {.id = "kinds-told",
     .source = "vidi",
     .text = "A set reports its losses correctly",
     .evidence = "kinds-told kinds-lost",
     .judge = judge_told},
    {.id = "kinds-salts",
     .source = "vidi, after the thesis, section 4.2",
     .text = "New salts for each crawl recover the pages that the last one lost",
     .evidence = "kinds-recrawl",
     .judge = judge_salts},
    {.id = "kinds-bits",
     .source = "vidi, after the thesis, section 4.2",
     .text = "Twice the bits achieve in one crawl what new salts achieve in two",
     .evidence = "kinds-recrawl",
     .judge = judge_bits},
    {.id = "kinds-late",
     .source = "vidi, after the thesis, section 5.7.1",
     .text = "A crawl loses the pages that it meets late; a different order in the next crawl spreads the delay",
     .evidence = "kinds-which",
     .judge = judge_late},
    {.id = NULL},
};
