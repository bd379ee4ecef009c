/*
 * Judges the claims of the multi-layer paper by our measurements. A claim whose tables were not measured stays
 * unjudged.
 */
#include <math.h>
#include <stdio.h>

#include "lab/counting/notes.h"
#include "lab/judge/judging.h"
#include "lab/multilayer/layers.h"

/* ---- helpers ---- */

/* The ratio of two cells of a table, one of `among`. What is certain has no interval, and counts as exact. */
static lab_ratio ratio_among(const lab_entry *a, const lab_entry *b, size_t among)
{
    const lab_entry *given[] = {a, b};
    lab_entry entries[2];
    for (size_t i = 0; i < 2; i++) {
        if (!given[i])
            return lab_ratio_of_rates(NULL, NULL);
        entries[i] = given[i]->high > given[i]->low ? *given[i] : lab_exact_entry(given[i]->measured);
    }
    return lab_ratio_of_rates_among(&entries[0], &entries[1], among);
}

/* Whether the first cell is more than the second by more than the claim's margin. */
static lab_comparison compare_among(const lab_claim *claim, const lab_entry *a, const lab_entry *b, size_t among)
{
    return lab_compare(ratio_among(a, b, among), claim->margin);
}

/* All must be more for the claim to hold; if some are and some are not, it holds with conditions. */
static lab_holding score_holding(const lab_outcomes *score)
{
    if (score->open)
        return LAB_UNJUDGED;
    return !score->not_more ? LAB_HOLDS : score->more ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

/* ---- searches ---- */

static lab_holding judge_comparisons(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double linear = lab_book_measured(book, "layers-comparisons", "linear search", "URLs that are not");
    double binary = lab_book_measured(book, "layers-comparisons", "binary search", "URLs that are not");
    if (isnan(linear + binary))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "A lookup of a missing URL takes %.0f comparisons by linear search and %.1f by binary search", linear,
             binary);
    return lab_relate(lab_exact_ratio(binary / log2(linear)), claim->margin) == LAB_EQUAL ? LAB_HOLDS
                                                                                          : LAB_DOES_NOT_HOLD;
}

/* ---- false positives ---- */

static lab_holding judge_fewer(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const known = "m = 4.8 n, known segments";
    const lab_entry *classic = lab_book_entry(book, "layers-original", "3.5 M", "classic");
    const lab_entry *layered = lab_book_entry(book, "layers-original", "3.5 M", "multilayer");
    const lab_entry *known_classic = lab_book_entry(book, "layers-equal", known, "classic, m");
    const lab_entry *known_layered = lab_book_entry(book, "layers-equal", known, "multilayer, m per layer");
    if (!classic || !layered || !known_classic || !known_layered || isnan(known_classic->measured))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Of URLs with a number appended multilayer loses %.0f where classic loses %.0f, with five times the "
             "bits; of URLs whose segments are all known it loses %.2f %%, classic %.2f %%",
             layered->measured, classic->measured, known_layered->measured, known_classic->measured);
    lab_outcomes score = {0};
    lab_comparison appended = compare_among(claim, classic, layered, 2);
    if (appended == LAB_NOT_MORE)
        return LAB_DOES_NOT_HOLD;
    lab_outcomes_add(&score, appended);
    lab_outcomes_add(&score, compare_among(claim, known_classic, known_layered, 2));
    return score_holding(&score);
}

static lab_holding judge_formula(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "layers-formula", *const column = "m = 2.4 n";
    static const char *const sorts[] = {"all segments new", "last segment new", "new page of one directory",
                                        "new host alone", "all segments known"};
    enum { SORTS = sizeof sorts / sizeof *sorts };
    const lab_entry *formula = lab_book_entry(book, id, "the paper's formula", column), *entries[SORTS];
    size_t equal = 0, open = 0;
    for (size_t i = 0; i < SORTS; i++) {
        entries[i] = lab_book_entry(book, id, sorts[i], column);
        if (!formula || !entries[i])
            return LAB_UNJUDGED;
        lab_entry exact = lab_exact_entry(formula->measured);
        lab_relation relation = lab_relate(ratio_among(entries[i], &exact, SORTS), claim->margin);
        equal += relation == LAB_EQUAL;
        open += relation == LAB_TOO_LITTLE;
    }
    snprintf(
        sentence, room,
        "With 2.4 bits per URL the formula gives %.2f %%; the rate is %.2f %% if all segments are new, %.1f %% if only "
        "the last one is, %.1f %% in one directory, %.1f %% for hosts alone, and %.1f %% if all are known",
        formula->measured, entries[0]->measured, entries[1]->measured, entries[2]->measured, entries[3]->measured,
        entries[4]->measured);
    return equal + open < SORTS ? LAB_DOES_NOT_HOLD : open ? LAB_UNJUDGED : LAB_HOLDS;
}

static lab_holding judge_xor(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "layers-cross", *const paper = "multilayer, as the paper";
    const lab_entry *without = lab_book_entry(book, id, "a segment of another", "layers without the XOR");
    const lab_entry *with = lab_book_entry(book, id, "a segment of another", paper);
    const lab_entry *permuted = lab_book_entry(book, id, "permuted", paper);
    const lab_entry *shortened = lab_book_entry(book, id, "shortened by an equal pair", paper);
    const lab_entry *salted = lab_book_entry(book, id, "permuted", "multilayer, layers salted");
    if (!without || !with || !permuted || !shortened || !salted)
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Of URLs with a segment of another URL, %.0f %% are lost without that layer and %.1f %% with it; but %.0f %% "
        "of permuted and %.0f %% of shortened URLs are lost, unless each layer has its own salt (%.1f %%)",
        without->measured, with->measured, permuted->measured, shortened->measured, salted->measured);
    lab_comparison helps = compare_among(claim, without, with, 3);
    if (helps != LAB_MORE)
        return helps == LAB_OPEN ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
    lab_outcomes worse = {0};
    lab_outcomes_add(&worse, compare_among(claim, permuted, with, 3));
    lab_outcomes_add(&worse, compare_among(claim, shortened, with, 3));
    return worse.more ? LAB_CONDITIONS : worse.open ? LAB_UNJUDGED : LAB_HOLDS;
}

/* In layers-equal, the larger m is 3.5 times the smaller. */
static lab_holding judge_larger_m(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const columns[] = {"classic, m", "multilayer, m per layer"};
    const lab_entry *few[2], *many[2];
    lab_outcomes score = {0};
    for (size_t i = 0; i < 2; i++) {
        few[i] = lab_book_entry(book, "layers-equal", "m = 4.8 n, other URLs", columns[i]);
        many[i] = lab_book_entry(book, "layers-equal", "m = 16.8 n, other URLs", columns[i]);
        if (!few[i] || !many[i])
            return LAB_UNJUDGED;
        lab_outcomes_add(&score, compare_among(claim, few[i], many[i], 2));
    }
    snprintf(sentence, room,
             "With 4.8 and 16.8 bits per URL (multilayer: in each layer) classic loses %.3g and %.2g %% of other URLs, "
             "and multilayer %.2g and %.1g %%",
             few[0]->measured, many[0]->measured, few[1]->measured, many[1]->measured);
    return score_holding(&score);
}

static lab_holding judge_addresses(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "layers-addresses", *const column = "URLs with such an address";
    double original = lab_book_measured(book, id, "m = 16829152, the original", column);
    double own = lab_book_measured(book, id, "m = 4872584, the study's runs", column);
    double power = lab_book_measured(book, id, "m = 16777216, a power of two", column);
    (void)claim;
    if (isnan(original + own + power))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "%.1f %% of the URLs get an address beyond the array with the original's m, %.0f %% with the m of the "
             "paper's runs, and %.0f %% with a power of two",
             original, own, power);
    if (power > 0)
        return LAB_DOES_NOT_HOLD;
    return original > 0 || own > 0 ? LAB_CONDITIONS : LAB_HOLDS;
}

/* The claim holds if multilayer is no worse than a classic filter with the same memory and the best k. */
static lab_holding judge_best(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const sorts[] = {"m = 4.8 n, number appended", "m = 4.8 n, other URLs",
                                        "m = 4.8 n, known segments"};
    double layered[3], same[3], best[3];
    int worse = 0, open = 0;
    for (int i = 0; i < 3; i++) {
        layered[i] = lab_book_measured(book, "layers-equal", sorts[i], "multilayer, m per layer");
        same[i] = lab_book_measured(book, "layers-equal", sorts[i], "classic, 5 m");
        best[i] = lab_book_measured(book, "layers-equal", sorts[i], "classic, 5 m, best k");
        if (isnan(layered[i] + same[i] + best[i]))
            return LAB_UNJUDGED;
        lab_ratio ratio =
            lab_ratio_of_rates_among(lab_book_entry(book, "layers-equal", sorts[i], "multilayer, m per layer"),
                                     lab_book_entry(book, "layers-equal", sorts[i], "classic, 5 m, best k"), 3);
        lab_comparison comparison = lab_compare(ratio, claim->margin);
        worse += comparison == LAB_MORE;
        open += comparison == LAB_OPEN;
    }
    snprintf(sentence, room,
             "With 24 bits per URL multilayer loses %.3f %% of URLs with a number appended, %.3f %% of others and %.2f "
             "%% of URLs with known segments; classic loses %.3f, %.3f and %.3f %% with three functions, and %.4f, "
             "%.4f and %.4f %% with the best number of functions",
             layered[0], layered[1], layered[2], same[0], same[1], same[2], best[0], best[1], best[2]);
    if (open)
        return LAB_UNJUDGED;
    return worse == 3 ? LAB_DOES_NOT_HOLD : worse ? LAB_CONDITIONS : LAB_HOLDS;
}

/* The times of multilayer, divided by those of classic, with their relations to 1. */
typedef struct slowness {
    lab_ratio insert, ask;
    lab_relation inserting, asking;
    char insert_text[LAB_RATIO_ROOM], ask_text[LAB_RATIO_ROOM];
} slowness;

static bool find_slowness(const lab_claim *claim, const lab_book *book, slowness *slowness)
{
    static const lab_cell_name insert = {"layers-slower", "3.5 M", "insert ratio"};
    static const lab_cell_name ask = {"layers-slower", "3.5 M", "lookup ratio"};
    if (!lab_book_entry(book, insert.study, insert.row, insert.column) ||
        !lab_book_entry(book, ask.study, ask.row, ask.column))
        return false;
    slowness->insert = lab_ratio_of_times(book, &insert, NULL);
    slowness->ask = lab_ratio_of_times(book, &ask, NULL);
    slowness->inserting = lab_relate(slowness->insert, claim->margin);
    slowness->asking = lab_relate(slowness->ask, claim->margin);
    lab_ratio_text(slowness->insert, slowness->insert_text);
    lab_ratio_text(slowness->ask, slowness->ask_text);
    return true;
}

static lab_holding judge_slower(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    slowness found;
    if (!find_slowness(claim, book, &found))
        return LAB_UNJUDGED;
    snprintf(sentence, room, "The time of an insertion, divided by that of classic, is %s, and of a lookup %s",
             found.insert_text, found.ask_text);
    if (found.inserting == LAB_TOO_LITTLE || found.asking == LAB_TOO_LITTLE)
        return LAB_UNJUDGED;
    bool inserts = found.inserting == LAB_ABOVE, asks = found.asking == LAB_ABOVE;
    return inserts && asks ? LAB_HOLDS : inserts || asks ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_same_time(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    slowness found;
    if (!find_slowness(claim, book, &found))
        return LAB_UNJUDGED;
    bool open = found.inserting == LAB_TOO_LITTLE || found.asking == LAB_TOO_LITTLE;
    bool apart = (found.inserting != LAB_EQUAL && found.inserting != LAB_TOO_LITTLE) ||
                 (found.asking != LAB_EQUAL && found.asking != LAB_TOO_LITTLE);
    snprintf(sentence, room, "%she time of an insertion, divided by that of classic, is %s, and of a lookup %s",
             apart ? "The paper's own results contradict this, and so do ours: t" : "T", found.insert_text,
             found.ask_text);
    return apart ? LAB_DOES_NOT_HOLD : open ? LAB_UNJUDGED : LAB_HOLDS;
}

static lab_holding judge_algorithms(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "layers-cross";
    const lab_entry *crossed = lab_book_entry(book, id, "a segment of another", "classic of segments");
    const lab_entry *fresh = lab_book_entry(book, id, "new page", "classic of segments");
    const lab_entry *urls = lab_book_entry(book, id, "a segment of another", "classic of URLs");
    if (!crossed || !fresh || !urls)
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "As printed they insert segments: %.0f %% of the URLs made of known segments are lost, and %.1f %% of those "
        "with one new segment, where a filter of URLs loses %.1f %%",
        crossed->measured, fresh->measured, urls->measured);
    return lab_holds_if_equal(lab_relate(ratio_among(crossed, urls, 1), claim->margin));
}

/* ---- times and memory ---- */

/* Whether a search takes longer than both filters. */
static lab_comparison is_slower(const lab_claim *claim, const lab_book *book, const char *search)
{
    lab_cell_name of = {"layers-query", search, "50 k"}, classic = {"layers-query", "classic", "50 k"};
    lab_cell_name layered = {"layers-query", "multilayer", "50 k"};
    lab_comparison than_classic = lab_compare(lab_ratio_of_times(book, &of, &classic), claim->margin);
    lab_comparison than_layered = lab_compare(lab_ratio_of_times(book, &of, &layered), claim->margin);
    if (than_classic == LAB_NOT_MORE || than_layered == LAB_NOT_MORE)
        return LAB_NOT_MORE;
    return than_classic == LAB_OPEN || than_layered == LAB_OPEN ? LAB_OPEN : LAB_MORE;
}

static lab_holding judge_traditional(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "layers-query", *const column = "50 k";
    double linear = lab_book_measured(book, id, "linear search", column);
    double binary = lab_book_measured(book, id, "binary search", column);
    double table = lab_book_measured(book, id, "hash table", column);
    double classic = lab_book_measured(book, id, "classic", column);
    double layered = lab_book_measured(book, id, "multilayer", column);
    if (isnan(linear + binary + table + classic + layered))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "A lookup takes %.0f ns by linear search, %.0f by binary search, %.0f with a hash table, %.0f with "
             "classic and %.0f with multilayer",
             linear, binary, table, classic, layered);
    lab_comparison linear_slower = is_slower(claim, book, "linear search");
    lab_comparison binary_slower = is_slower(claim, book, "binary search");
    lab_comparison table_slower = is_slower(claim, book, "hash table");
    if (linear_slower != LAB_MORE)
        return linear_slower == LAB_OPEN ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
    if (binary_slower == LAB_NOT_MORE || table_slower == LAB_NOT_MORE)
        return LAB_CONDITIONS;
    return binary_slower == LAB_OPEN || table_slower == LAB_OPEN ? LAB_UNJUDGED : LAB_HOLDS;
}

static lab_holding judge_more_space(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double classic = lab_book_measured(book, "layers-space", "classic", "bytes");
    double layered = lab_book_measured(book, "layers-space", "multilayer", "bytes");
    if (isnan(classic + layered))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Four layers of m bits and the XOR layer take %.3g bytes per URL, a classic filter of m bits %.3g",
             layered, classic);
    return lab_compare(lab_exact_ratio(layered / classic), claim->margin) == LAB_MORE ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_less_space(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const rows[] = {"linear search", "binary search", "hash table", "classic", "multilayer"};
    double bytes[5];
    lab_outcomes score = {0};
    for (size_t i = 0; i < 5; i++) {
        bytes[i] = lab_book_measured(book, "layers-space", rows[i], "bytes");
        if (isnan(bytes[i]))
            return LAB_UNJUDGED;
    }
    for (size_t i = 0; i < 3; i++)
        lab_outcomes_add(&score, lab_compare(lab_exact_ratio(bytes[i] / fmax(bytes[3], bytes[4])), claim->margin));
    snprintf(sentence, room,
             "A URL takes %.0f bytes in a list, %.0f sorted and %.0f in a hash table, %.2g in a classic filter and "
             "%.2g in multilayer, where a tenth of other URLs is lost by the former",
             bytes[0], bytes[1], bytes[2], bytes[3], bytes[4]);
    return score_holding(&score);
}

/* ---- the paper's own runs ---- */

static lab_holding judge_own(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *counted = lab_book_entry(book, "layers-program", "1562978 rows", "classic");
    if (!counted || !(counted->published > 0))
        return LAB_UNJUDGED;
    lab_entry published = lab_exact_entry(counted->published);
    snprintf(
        sentence, room,
        "Of 781,489 lookups of different URLs the program loses %.0f; the rest of the %.0f must be URLs that occur in "
        "both halves of the paper's file, and as a share of the lookups it is twice that of the rows",
        counted->measured, counted->published);
    return lab_holds_if_equal(lab_relate(ratio_among(&published, counted, 1), claim->margin));
}

#define PAPER "the multi-layer paper, "

const lab_claim lab_layers_claims[] = {
    {.id = "layers-search",
     .source = PAPER "section 1.1",
     .text = "Linear search takes as many comparisons as there are URLs, binary search the logarithm of that",
     .evidence = "layers-comparisons",
     .judge = judge_comparisons,
     .margin = 0.1,
     .margin_reason = "a search ends after a whole number of comparisons, next to the logarithm"},
    {.id = "layers-algorithms",
     .source = PAPER "algorithms 1 and 2",
     .text = "The algorithms are a Bloom filter's, with false positives of (1-e^(-kn/m))^k",
     .evidence = "layers-cross layers-false",
     .judge = judge_algorithms,
     .margin = 0.05,
     .margin_reason = "these tables have a twentieth of the URLs"},
    {.id = "layers-xor",
     .source = PAPER "multi-layer introduction",
     .text =
         "The last layer, with the XOR of the segments' positions, solves the problem of URLs made of others' segments",
     .evidence = "layers-cross",
     .judge = judge_xor,
     .margin = 1,
     .margin_reason = "our reading of \"solves\": more than a half of them is no longer lost"},
    {.id = "layers-addresses",
     .source = PAPER "algorithm 3",
     .text = "The positions in the last layer, of m bits as well, are the XOR of the positions in the others",
     .evidence = "layers-addresses",
     .judge = judge_addresses},
    {.id = "layers-larger-m",
     .source = PAPER "analysis",
     .text = "The larger m, the fewer false positives",
     .evidence = "layers-equal",
     .judge = judge_larger_m,
     .margin = LAB_RATE_MARGIN},
    {.id = "layers-best-k",
     .source = PAPER "analysis",
     .text = "The best number of hash functions is k = (m/n) ln 2",
     .evidence = "notes-k",
     .judge = lab_claim_best_k,
     .margin = LAB_RATE_MARGIN},
    {.id = "layers-formula",
     .source = PAPER "analysis",
     .text = "Multilayer's false positives are (1-e^(-kn/m))^(kL)",
     .evidence = "layers-formula layers-quarter",
     .judge = judge_formula,
     .margin = 0.2,
     .margin_reason = "the formula is called an approximation"},
    {.id = "layers-fewer",
     .source = PAPER "results, figure 3",
     .text = "Multilayer has far fewer false positives than a classic filter of as many bits as a layer",
     .evidence = "layers-original layers-false layers-equal",
     .judge = judge_fewer,
     .margin = 1,
     .margin_reason = "our reading of \"far fewer\": less than half"},
    {.id = "layers-slower",
     .source = PAPER "results, figures 4 and 5",
     .text = "Insertions and lookups take longer with multilayer, because it computes more hash functions",
     .evidence = "layers-slower layers-query layers-insert",
     .judge = judge_slower,
     .margin = LAB_TIME_MARGIN},
    {.id = "layers-same-time",
     .source = PAPER "conclusion",
     .text = "Multilayer and classic take the same time for insertions and lookups",
     .evidence = "layers-slower layers-query layers-insert",
     .judge = judge_same_time,
     .margin = LAB_TIME_MARGIN},
    {.id = "layers-traditional",
     .source = PAPER "conclusion",
     .text = "Lookups in both sorts of Bloom filters are faster than the traditional searches",
     .evidence = "layers-query",
     .judge = judge_traditional,
     .margin = LAB_TIME_MARGIN},
    {.id = "layers-less-space",
     .source = PAPER "conclusion",
     .text = "Both sorts of Bloom filters take less space than the traditional searches",
     .evidence = "layers-space",
     .judge = judge_less_space,
     .margin = LAB_RATE_MARGIN},
    {.id = "layers-more-space",
     .source = PAPER "conclusion",
     .text = "Multilayer takes more space than classic",
     .evidence = "layers-space",
     .judge = judge_more_space,
     .margin = LAB_RATE_MARGIN},
    {.id = "layers-best",
     .source = PAPER "conclusion",
     .text = "Multilayer, having the fewest false positives, is the most effective algorithm for URLs",
     .evidence = "layers-equal",
     .judge = judge_best,
     .margin = LAB_RATE_MARGIN},
    {.id = "layers-own",
     .source = PAPER "experiment and results",
     .text = "Of 1,562,978 rows about 50,600 are false positives of the classic filter",
     .evidence = "layers-program layers-own",
     .judge = judge_own,
     .margin = 0.05,
     .margin_reason = "the published counts of its runs differ by up to 2 %"},
    {.id = NULL},
};
