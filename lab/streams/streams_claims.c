/*
 * What the streams of real URLs show. Most claims are about all streams together, where there are enough losses to
 * tell; the rows of the tables tell how streams differ.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/judge/judging.h"
#include "lab/streams/streams.h"

#define HARDLY_ANY 10.0 /* pages lost per million */
#define AT_LEAST 5.0    /* times as many pages as classic */

/* Kinds whose positions come from a keyed hash of the whole URL, and lose enough in 8 bits to tell. */
static const char *const keyed[] = {"classic", "blocked", "scalable", "spatial", "counting"};
enum { KEYED = sizeof keyed / sizeof *keyed };

static const lab_entry *of_all(const lab_book *book, const char *study, const char *kind)
{
    return lab_book_entry(book, study, LAB_ALL_STREAMS, kind);
}

/* Writes "name 12, name 34" behind the sentence so far. */
static void add_figure(char *sentence, size_t room, const char *name, double figure)
{
    size_t used = strlen(sentence);
    snprintf(sentence + used, room - used, "%s %s %.0f", sentence[used - 1] == ':' ? "" : ",", name, figure);
}

/* ---- what matters to kinds with a keyed hash ---- */

static lab_holding judge_theory(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_contest contest = {.count = 0};
    lab_entry theory[KEYED];
    char text[LAB_RATIO_ROOM];
    for (size_t i = 0; i < KEYED; i++) {
        const lab_entry *entry = of_all(book, "streams-8", keyed[i]);
        if (!entry || isnan(entry->theory))
            return LAB_UNJUDGED;
        theory[i] = lab_exact_entry(entry->theory);
        theory[i].row = LAB_ALL_STREAMS;
        theory[i].column = keyed[i];
        lab_contest_add(&contest, entry, &theory[i], "streams-8");
    }
    lab_contest_judge(&contest, claim->margin);
    snprintf(
        sentence, room,
        "Of %d kinds, %zu lost what theory says; the ratio of measurement to theory that is farthest from 1 is %s%s",
        KEYED, contest.equal, lab_ratio_text(contest.farthest, text), contest.left_out);
    return lab_holds_if_equal(contest.relation);
}

static lab_holding judge_order(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_contest contest = {.count = 0};
    char text[LAB_RATIO_ROOM];
    for (size_t i = 0; i < KEYED; i++)
        lab_contest_add(&contest, of_all(book, "streams-8-shuffled", keyed[i]), of_all(book, "streams-8", keyed[i]),
                        "streams-8");
    if (contest.count < KEYED)
        return LAB_UNJUDGED;
    lab_contest_judge(&contest, claim->margin);
    snprintf(
        sentence, room,
        "Shuffled, %zu of %d kinds lost as much as in the order of the files; the ratio that is farthest from 1 is "
        "%s%s",
        contest.equal, KEYED, lab_ratio_text(contest.farthest, text), contest.left_out);
    return lab_holds_if_equal(contest.relation);
}

static lab_holding judge_repeats(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_table *table = lab_book_find(book, "streams-repeats");
    double lines = lab_book_measured(book, "streams-what", LAB_ALL_STREAMS, "lines");
    double urls = lab_book_measured(book, "streams-what", LAB_ALL_STREAMS, "different URLs"), most = 0;
    size_t cells = 0;
    (void)claim;
    for (size_t i = 0; table && i < table->rows * table->columns; i++)
        if (!isnan(table->entries[i].measured)) {
            most = fmax(most, fabs(table->entries[i].measured));
            cells++;
        }
    if (cells == 0 || isnan(lines) || isnan(urls))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "In %zu cells, the %.0f repeats among %.0f lines changed the number of lost pages by %.0f at most", cells,
             lines - urls, lines, most);
    return most > 0 ? LAB_DOES_NOT_HOLD : LAB_HOLDS;
}

/* ---- kinds that take URLs apart ---- */

static lab_holding judge_multilayer(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_table *table = lab_book_find(book, "streams-8");
    double least = INFINITY, most = 0;
    const char *least_name = "", *most_name = "";
    size_t streams = 0;
    lab_outcomes more = {0};
    for (size_t row = 0; table && row < table->rows; row++)
        streams += lab_table_find(table, table->entries[row * table->columns].row, "multilayer") != NULL;
    for (size_t row = 0; table && row + 1 < table->rows; row++) {
        const char *name = table->entries[row * table->columns].row;
        const lab_entry *classic = lab_book_entry(book, "streams-8", name, "classic");
        lab_ratio ratio =
            lab_ratio_of_rates_among(lab_book_entry(book, "streams-8", name, "multilayer"), classic, streams);
        if (!ratio.known)
            continue; /* it does not fit */
        lab_outcomes_add(&more, lab_compare(lab_ratio_to(ratio, AT_LEAST), claim->margin));
        least_name = ratio.value < least ? name : least_name;
        least = fmin(least, ratio.value);
        most_name = ratio.value > most ? name : most_name;
        most = fmax(most, ratio.value);
    }
    if (!(most > 0))
        return LAB_UNJUDGED;
    snprintf(sentence, room, "Multilayer lost %.1f (%s) to %.1f (%s) times as many pages as classic in the same memory",
             least, least_name, most, most_name);
    return lab_holds_if_all_more(&more);
}

/* Compares every stream with its shuffled lines. */
static lab_relation compare_orders(const lab_book *book, const char *kind, double margin, lab_ratio *farthest)
{
    const lab_table *table = lab_book_find(book, "streams-8");
    lab_contest contest = {.count = 0};
    for (size_t row = 0; table && row + 1 < table->rows; row++) {
        const char *name = table->entries[row * table->columns].row;
        lab_contest_add(&contest, lab_book_entry(book, "streams-8-shuffled", name, kind),
                        lab_book_entry(book, "streams-8", name, kind), "streams-8");
    }
    lab_contest_judge(&contest, margin);
    *farthest = contest.farthest;
    return contest.relation;
}

static lab_holding judge_apart(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    char texts[2][LAB_RATIO_ROOM];
    lab_ratio ratios[2];
    lab_relation layers = compare_orders(book, "multilayer", claim->margin, &ratios[0]);
    lab_relation eigen = compare_orders(book, "eigen", claim->margin, &ratios[1]);
    if (layers == LAB_TOO_LITTLE || eigen == LAB_TOO_LITTLE)
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "In the stream where it matters most, multilayer lost %s times as many pages when its lines were shuffled, "
        "and eigen %s times",
        lab_ratio_text(ratios[0], texts[0]), lab_ratio_text(ratios[1], texts[1]));
    if (layers == LAB_EQUAL && eigen == LAB_EQUAL)
        return LAB_DOES_NOT_HOLD;
    return layers == LAB_EQUAL || eigen == LAB_EQUAL ? LAB_CONDITIONS : LAB_HOLDS;
}

/* ---- which kind ---- */

static lab_holding judge_papers(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const papers[] = {"spatial", "scalable", "eigen", "multilayer", "counting"};
    enum { PAPERS = sizeof papers / sizeof *papers };
    const lab_entry *classic = of_all(book, "streams-8", "classic");
    lab_outcomes better = {0};
    if (!classic)
        return LAB_UNJUDGED;
    snprintf(sentence, room, "Pages lost per million in 8 bits per URL:");
    add_figure(sentence, room, "classic", classic->measured);
    for (size_t i = 0; i < PAPERS; i++) {
        const lab_entry *other = of_all(book, "streams-8", papers[i]);
        if (!other) {
            sentence[0] = 0;
            return LAB_UNJUDGED;
        }
        lab_outcomes_add(&better, lab_compare(lab_ratio_of_rates_among(classic, other, PAPERS), claim->margin));
        add_figure(sentence, room, papers[i], other->measured);
    }
    return lab_holds_if_none_more(&better);
}

static lab_holding judge_default(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *entry = of_all(book, "streams-64", "fingerprint");
    lab_entry hardly_any = lab_exact_entry(HARDLY_ANY);
    if (!entry)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "In 64 bits per URL it lost %.3g pages in a million, at most %.3g with a confidence of 95 %%",
             entry->measured, entry->high);
    lab_comparison comparison = lab_compare(lab_ratio_of_rates(entry, &hardly_any), claim->margin);
    return lab_holds_if_not_more(comparison);
}

/* ---- pages and their spellings ---- */

/* Of a million different URLs, those that are another spelling of a page that is known. */
static double spellings(const lab_book *book, const char *form)
{
    double lines = lab_book_measured(book, "streams-what", LAB_ALL_STREAMS, "lines");
    double urls = lab_book_measured(book, "streams-what", LAB_ALL_STREAMS, "different URLs");
    double more = lab_book_measured(book, "streams-canon", LAB_ALL_STREAMS, form) -
                  lab_book_measured(book, "streams-canon", LAB_ALL_STREAMS, "none");
    return more / 100 * lines / urls * 1e6;
}

static lab_holding judge_spellings(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *classic = of_all(book, "streams-8", "classic");
    lab_entry again = lab_exact_entry(spellings(book, "whatwg"));
    double crawl = spellings(book, "crawl");
    if (!classic || isnan(again.measured) || isnan(crawl))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Of a million different URLs, %.0f are other spellings of a known page by the URL standard, and %.0f in the "
        "form for crawls; a classic filter with 8 bits per URL loses %.0f pages",
        again.measured, crawl, classic->measured);
    lab_comparison comparison = lab_compare(lab_ratio_of_rates(&again, classic), claim->margin);
    return lab_holds_if_more(comparison);
}

/* The sum of some cells of a row, which are independent. */
static lab_entry sum_of(const lab_book *book, size_t first, size_t count)
{
    lab_entry sum = lab_exact_entry(0);
    double below = 0, above = 0;
    for (size_t i = first; i < first + count; i++) {
        const lab_entry *entry = lab_book_entry(book, "streams-when", LAB_ALL_STREAMS, lab_streams_tenths[i]);
        sum.measured += entry ? entry->measured : (double)NAN;
        below = entry ? hypot(below, entry->measured - entry->low) : below;
        above = entry ? hypot(above, entry->high - entry->measured) : above;
    }
    sum.low = sum.measured - below;
    sum.high = sum.measured + above;
    sum.z = 0; /* the intervals are those of counts against theory, not estimated from the runs */
    return sum;
}

static lab_holding judge_late(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    lab_entry early = sum_of(book, 0, LAB_TENTHS - 2), late = sum_of(book, LAB_TENTHS - 2, 2);
    if (isnan(early.measured) || isnan(late.measured) || !(early.measured + late.measured > 0))
        return LAB_UNJUDGED;
    snprintf(sentence, room, "%.0f %% of the lost pages came in the last two tenths of the lines, %.0f %% before",
             100 * late.measured / (early.measured + late.measured),
             100 * early.measured / (early.measured + late.measured));
    lab_comparison comparison = lab_compare(lab_ratio_of_rates(&late, &early), claim->margin);
    return lab_holds_if_more(comparison);
}

const lab_claim lab_streams_claims[] = {
    {.id = "streams-theory",
     .source = "vidi",
     .text = "With a keyed hash, what a filter loses on real URLs follows from their number alone",
     .evidence = "streams-8",
     .judge = judge_theory,
     .margin = LAB_RATE_MARGIN},
    {.id = "streams-order",
     .source = "vidi",
     .text = "With a keyed hash, the order of the URLs does not change how many are lost",
     .evidence = "streams-8 streams-8-shuffled",
     .judge = judge_order,
     .margin = 0.03,
     .margin_reason = "two measurements of ten runs are compared, neither of which is exact"},
    {.id = "streams-repeats",
     .source = "vidi",
     .text = "Repeats change nothing: a filter loses the same number of pages if each URL comes once",
     .evidence = "streams-repeats streams-what",
     .judge = judge_repeats},
    {.id = "streams-multilayer",
     .source = "vidi, after the multi-layer paper",
     .text = "In the same memory, multilayer loses more than five times as many real pages as classic, in every stream",
     .evidence = "streams-8",
     .judge = judge_multilayer},
    {.id = "streams-apart",
     .source = "vidi, after the multi-layer paper and the eigenvalue paper",
     .text =
         "Filters that take URLs apart depend on the order: there are streams in which multilayer and eigen lose more "
         "or fewer pages when the lines are shuffled",
     .evidence = "streams-8 streams-8-shuffled",
     .judge = judge_apart,
     .margin = 0.05,
     .margin_reason = "the pages of one site are lost together, so that runs vary more than independent losses would"},
    {.id = "streams-papers",
     .source = "vidi",
     .text =
         "On real URLs too, none of the papers' kinds loses fewer pages than a plain Bloom filter in the same memory",
     .evidence = "streams-8",
     .judge = judge_papers,
     .margin = 0.1,
     .margin_reason = "besides their arrays, sets of different kinds allocate 1 to 20 kB, which small streams notice"},
    {.id = "streams-default",
     .source = "vidi",
     .text = "Fingerprint loses practically no real page",
     .evidence = "streams-64",
     .judge = judge_default},
    {.id = "streams-spellings",
     .source = "vidi",
     .text = "Different spellings of one page cost more than a filter: without a canonical form more pages are fetched "
             "twice than a classic filter with 8 bits per URL loses",
     .evidence = "streams-canon streams-what streams-8",
     .judge = judge_spellings},
    {.id = "streams-late",
     .source = "vidi",
     .text =
         "Most lost pages are among those that a crawl meets last: more than half come in the last fifth of the lines",
     .evidence = "streams-when",
     .judge = judge_late},
    {.id = NULL},
};
