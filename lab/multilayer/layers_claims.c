/*
 * Judges the claims of the multi-layer paper by our measurements. A claim whose tables were not measured stays
 * unjudged.
 */
#include <math.h>
#include <stdio.h>

#include "lab/engine/judging.h"
#include "lab/multilayer/layers.h"

static lab_holding judge_comparisons(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double linear = lab_book_measured(book, "layers-comparisons", "linear search", "URLs that are not");
    double binary = lab_book_measured(book, "layers-comparisons", "binary search", "URLs that are not");
    (void)claim;
    if (isnan(linear + binary))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "A lookup of a missing URL takes %.0f comparisons by linear search and %.1f by binary search", linear,
             binary);
    return fabs(binary - log2(linear)) <= 1 ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_fewer(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double classic = lab_book_measured(book, "layers-original", "3.5 M", "classic");
    double layered = lab_book_measured(book, "layers-original", "3.5 M", "multilayer");
    double known_classic = lab_book_measured(book, "layers-equal", "m = 4.8 n, known segments", "classic, m");
    double known = lab_book_measured(book, "layers-equal", "m = 4.8 n, known segments", "multilayer, m per layer");
    (void)claim;
    if (isnan(classic + layered + known_classic + known))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "Of URLs with a number appended multilayer loses %.0f where classic loses %.0f, with five times the "
             "bits; of URLs whose segments are all known it loses %.2f %%, classic %.2f %%",
             layered, classic, known, known_classic);
    if (layered >= classic)
        return LAB_DOES_NOT_HOLD;
    return known < known_classic / 2 ? LAB_HOLDS : LAB_CONDITIONS;
}

/* The formula holds if it is within a fifth of the measured rate for every sort of URLs. */
static lab_holding judge_formula(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "layers-formula", *const column = "m = 2.4 n";
    double formula = lab_book_measured(book, id, "the paper's formula", column);
    double all = lab_book_measured(book, id, "all segments new", column);
    double last = lab_book_measured(book, id, "last segment new", column);
    double directory = lab_book_measured(book, id, "new page of one directory", column);
    double host = lab_book_measured(book, id, "new host alone", column);
    double known = lab_book_measured(book, id, "all segments known", column);
    double least = fmin(fmin(all, last), fmin(directory, fmin(host, known)));
    double most = fmax(fmax(all, last), fmax(directory, fmax(host, known)));
    (void)claim;
    if (isnan(formula + all + last + directory + host + known))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "With 2.4 bits per URL the formula gives %.2f %%; the rate is %.2f %% if all segments are new, %.1f %% if only "
        "the last one is, %.1f %% in one directory, %.1f %% for hosts alone, and %.1f %% if all are known",
        formula, all, last, directory, host, known);
    return least > 0.8 * formula && most < 1.2 * formula ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_xor(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "layers-cross", *const paper = "multilayer, as the paper";
    double without = lab_book_measured(book, id, "a segment of another", "layers without the XOR");
    double with = lab_book_measured(book, id, "a segment of another", paper);
    double permuted = lab_book_measured(book, id, "permuted", paper);
    double shortened = lab_book_measured(book, id, "shortened by an equal pair", paper);
    double salted = lab_book_measured(book, id, "permuted", "multilayer, layers salted");
    (void)claim;
    if (isnan(without + with + permuted + shortened + salted))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Of URLs with a segment of another URL, %.0f %% are lost without that layer and %.1f %% with it; but %.0f %% "
        "of permuted and %.0f %% of shortened URLs are lost, unless each layer has its own salt (%.1f %%)",
        without, with, permuted, shortened, salted);
    if (with > without / 2)
        return LAB_DOES_NOT_HOLD;
    return permuted > 2 * with || shortened > 2 * with ? LAB_CONDITIONS : LAB_HOLDS;
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
    double crossed = lab_book_measured(book, "layers-cross", "a segment of another", "classic of segments");
    double fresh = lab_book_measured(book, "layers-cross", "new page", "classic of segments");
    double urls = lab_book_measured(book, "layers-cross", "a segment of another", "classic of URLs");
    (void)claim;
    if (isnan(crossed + fresh + urls))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "As printed they insert segments: %.0f %% of the URLs made of known segments are lost, and %.1f %% of those "
        "with one new segment, where a filter of URLs loses %.1f %%",
        crossed, fresh, urls);
    return crossed > 1.5 * urls ? LAB_DOES_NOT_HOLD : LAB_HOLDS;
}

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

/* Repeated URLs cannot be falsely seen, so with new URLs alone the filter would lose a little more. */
static lab_holding judge_own(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_table *table = lab_book_find(book, "layers-own");
    const lab_entry *seen = table ? lab_table_find(table, "classic", "seen") : NULL;
    double falsely = lab_book_measured(book, "layers-own", "classic", "falsely seen");
    double asked = LAB_LAYERS_OWN_ASKED, most = falsely / (asked - LAB_LAYERS_OWN_REPEATED) * asked;
    (void)claim;
    if (!seen || isnan(falsely + seen->published))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "Of 781,489 lookups of new URLs such a filter would lose %.0f; the rest of the %.0f must be URLs that occur "
        "in both halves of the data, and as a share of the lookups it is twice that of the rows",
        most, seen->published);
    return seen->published > 1.1 * most ? LAB_DOES_NOT_HOLD : LAB_HOLDS;
}

#define PAPER "the multi-layer paper, "

const lab_claim lab_layers_claims[] = {
    {.id = "layers-search",
     .source = PAPER "section 1.1",
     .text = "Linear search takes as many comparisons as there are URLs, binary search the logarithm of that",
     .evidence = "layers-comparisons",
     .judge = judge_comparisons},
    {.id = "layers-algorithms",
     .source = PAPER "algorithms 1 and 2",
     .text = "The algorithms are a Bloom filter's, with false positives of (1-e^(-kn/m))^k",
     .evidence = "layers-cross layers-false",
     .judge = judge_algorithms},
    {.id = "layers-xor",
     .source = PAPER "multi-layer introduction",
     .text =
         "The last layer, with the XOR of the segments' positions, solves the problem of URLs made of others' segments",
     .evidence = "layers-cross",
     .judge = judge_xor},
    {.id = "layers-addresses",
     .source = PAPER "algorithm 3",
     .text = "The positions in the last layer, of m bits as well, are the XOR of the positions in the others",
     .evidence = "layers-addresses",
     .judge = judge_addresses},
    {.id = "layers-formula",
     .source = PAPER "analysis",
     .text = "Multilayer's false positives are (1-e^(-kn/m))^(kL)",
     .evidence = "layers-formula layers-quarter",
     .judge = judge_formula},
    {.id = "layers-fewer",
     .source = PAPER "results, figure 3",
     .text = "Multilayer has far fewer false positives than a classic filter of as many bits as a layer",
     .evidence = "layers-original layers-false layers-equal",
     .judge = judge_fewer},
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
    {.id = "layers-best",
     .source = PAPER "conclusion",
     .text = "Multilayer, having the fewest false positives, is the most effective algorithm for URLs",
     .evidence = "layers-equal",
     .judge = judge_best},
    {.id = "layers-own",
     .source = PAPER "experiment and results",
     .text = "Of 1,562,978 rows about 50,600 are false positives of the classic filter",
     .evidence = "layers-own",
     .judge = judge_own},
    {.id = NULL},
};
