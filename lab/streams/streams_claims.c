/*
 * What the streams of real URLs show. Most claims are about all streams together, where there are enough losses to
 * tell; the rows of the tables tell how streams differ.
 */
#include <math.h>
#include <stdio.h>

#include "lab/judge/judging.h"
#include "lab/streams/streams.h"

#define AT_LEAST 5.0 /* times as many pages as classic */

static lab_holding judge_repeats(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_table *table = lab_book_find(book, "streams-repeats");
    double lines = lab_book_measured(book, "streams-properties", LAB_ALL_STREAMS, "lines");
    double urls = lab_book_measured(book, "streams-properties", LAB_ALL_STREAMS, "different URLs"), most = 0;
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

/* ---- all of them ---- */

/* Kinds whose positions come from a keyed hash of the whole URL, and lose enough in 8 bits to tell. */
#define KEYED "classic|blocked|scalable|spatial|counting"

const lab_claim lab_streams_claims[] = {
    {"streams-theory", "vidi", "With a keyed hash, what a filter loses on real URLs follows from their number alone",
     "streams-8", .margin = LAB_RATE_MARGIN, .cells = "streams-8 @ " LAB_ALL_STREAMS " @ " KEYED,
     .tests = {"contest A/A'"},
     .sentence =
         "Of 5 kinds, {a.equal} lost what theory says; the ratio of measurement to theory that is farthest from "
         "1 is {a.farthest}{a.left_out}"},
    {"streams-order", "vidi", "With a keyed hash, the order of the URLs does not change how many are lost",
     "streams-8 streams-8-shuffled", .margin = 0.03,
     .margin_reason = "two measurements of ten runs are compared, neither of which is exact",
     .cells = "streams-8-shuffled @ " LAB_ALL_STREAMS " @ " KEYED "; streams-8", .tests = {"contest A/B"},
     .sentence = "Shuffled, {a.equal} of 5 kinds lost as much as in the order of the files; the ratio that is farthest "
                 "from 1 is {a.farthest}{a.left_out}"},
    {"streams-repeats", "vidi",
     "Repeats change nothing: a filter loses the same number of pages if each URL comes once",
     "streams-repeats streams-properties", .judge = judge_repeats},
    {"streams-multilayer", "vidi, after the multi-layer paper",
     "In the same memory, multilayer loses more than five times as many real pages as classic, in every stream",
     "streams-8", .judge = judge_multilayer},
    {"streams-apart", "vidi, after the multi-layer paper and the eigenvalue paper",
     "Filters that take URLs apart depend on the order: there are streams in which multilayer and eigen lose more "
     "or fewer pages when the lines are shuffled",
     "streams-8 streams-8-shuffled", .judge = judge_apart, .margin = 0.05,
     .margin_reason = "the pages of one site are lost together, so that runs vary more than independent losses would"},
    {"streams-papers", "vidi",
     "On real URLs too, none of the papers' kinds loses fewer pages than a plain Bloom filter in the same memory",
     "streams-8", .margin = 0.1,
     .margin_reason = "besides their arrays, sets of different kinds allocate 1 to 20 kB, which small streams notice",
     .cells =
         "streams-8 @ " LAB_ALL_STREAMS " @ classic; @@ spatial; @@ scalable; @@ eigen; @@ multilayer; @@ counting",
     .tests = {"no-more A/B A/C A/D A/E A/F"},
     .sentence = "Pages lost per million in 8 bits per URL: classic {A 0f}, spatial {B 0f}, scalable {C 0f}, eigen {D "
                 "0f}, multilayer {E 0f}, counting {F 0f}"},
    {"streams-default", "vidi", "Fingerprint loses practically no real page", "streams-64",
     .cells = "streams-64 @ " LAB_ALL_STREAMS " @ fingerprint", .tests = {"no-more A/(10)"}, /* pages per million */
     .sentence = "In 64 bits per URL it lost {A 3g} pages in a million, at most {A.high 3g} with a confidence of 95 %"},
    {"streams-spellings", "vidi",
     "Different spellings of one page cost more than a filter: without a canonical form more pages are fetched "
     "twice than a classic filter with 8 bits per URL loses",
     "streams-canon streams-properties streams-8",
     .cells = "streams-properties @ " LAB_ALL_STREAMS
              " @ lines; @@ different URLs; streams-canon @@ none; @@ whatwg; @@ crawl; streams-8 @@ classic",
     .provided = "B>0", .tests = {"more ((D-C)/100*A/B*1e6)/F"},
     .sentence = "Of a million different URLs, {(D-C)/100*A/B*1e6 0f} are other spellings of a known page by the URL "
                 "standard, and {(E-C)/100*A/B*1e6 0f} in the form for crawls; a classic filter with 8 bits per URL "
                 "loses {F 0f} pages"},
    {"streams-late", "vidi",
     "Most lost pages are among those that a crawl meets last: more than half come in the last fifth of the lines",
     "streams-by-tenth",
     .cells =
         "streams-by-tenth @ " LAB_ALL_STREAMS " @ sum 1st tenth|2nd|3rd|4th|5th|6th|7th|8th; @@ sum 9th|last tenth",
     .provided = "A+B>0", .tests = {"more B/A"},
     .sentence = "{100*B/(A+B) 0f} % of the lost pages came in the last two tenths of the lines, {100*A/(A+B) 0f} % "
                 "before"},
    {.id = NULL},
};
