/*
 * Judges the thesis's claims about hash functions: other functions instead of other salts, how random they are, how
 * fast they are, and whether URLs can collide in every crawl. See thesis.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/thesis/thesis.h"

/* ---- other functions ---- */

/* Compares rows of a table with the row that has new salts only, in every column. */
static void add_rows(lab_contest *contest, const lab_book *book, const char *id, const char *salted,
                     const char *const *rows)
{
    static const char *const columns[] = {"non-incremental", "incremental"};
    for (; *rows; rows++)
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            lab_contest_add(contest, lab_book_entry(book, id, salted, columns[i]),
                            lab_book_entry(book, id, *rows, columns[i]), id);
}

lab_holding lab_claim_other_functions(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const two[] = {"2 HF: Jenkins, then MurmurHash",
                                      "2 HF: Jenkins and MurmurHash, then MD5 and SHA-1", NULL};
    static const char *const three[] = {"3 HF: Jenkins, then MurmurHash", NULL};
    static const char *const two_filters[] = {"2 filters: Jenkins, MurmurHash", NULL};
    static const char *const three_filters[] = {"3 filters: Jenkins, MurmurHash, SHA-1", NULL};
    lab_contest contest = {.count = 0};
    add_rows(&contest, book, "thesis-temporal-functions", "2 HF: Jenkins, new salts", two);
    add_rows(&contest, book, "thesis-temporal-functions", "3 HF: Jenkins, new salts", three);
    add_rows(&contest, book, "thesis-spatial-functions", "2 filters: Jenkins, new salts", two_filters);
    add_rows(&contest, book, "thesis-spatial-functions", "3 filters: Jenkins, new salts", three_filters);
    return lab_claim_equal(claim, &contest, "comparisons of new salts with other functions", sentence, room);
}

lab_holding lab_claim_other_combination(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "thesis-kept-functions";
    const lab_entry *one = lab_book_entry(book, "thesis-5.6", "Jenkins and MurmurHash", "FP");
    const lab_entry *none_kept = lab_book_entry(book, id, "2 HF: none kept", "FP");
    const lab_entry *one_kept = lab_book_entry(book, id, "2 HF: one kept", "FP");
    const lab_entry *two_kept = lab_book_entry(book, id, "3 HF: two kept", "FP");
    char text[LAB_RATIO_ROOM];
    if (!one || !none_kept || !one_kept || !two_kept)
        return LAB_UNJUDGED;
    lab_ratio cost = lab_ratio_of_rates(one_kept, none_kept);
    snprintf(sentence, room,
             "With 2 functions and M = 2.0 one crawl loses %.3g %%, and both of two crawls lose %.3g %% if the second "
             "has other functions, but %.3g %% if one of the two is kept, %s times as much; with 3 functions of which "
             "two are kept it is %.3g %%",
             one->measured, none_kept->measured, one_kept->measured, lab_ratio_text(cost, text), two_kept->measured);
    lab_comparison reduces = lab_compare(lab_ratio_of_rates(one, one_kept), claim->margin);
    lab_comparison costs = lab_compare(cost, claim->margin);
    if (reduces == LAB_OPEN || (reduces == LAB_MORE && costs == LAB_OPEN))
        return LAB_UNJUDGED;
    return reduces == LAB_NOT_MORE ? LAB_DOES_NOT_HOLD : costs == LAB_MORE ? LAB_CONDITIONS : LAB_HOLDS;
}

/* ---- how random they are ---- */

/* The thesis's equation (3.5) with m = n k M, in per cent. */
static double perfect_rate(double k, double multiplier)
{
    return 100 * pow(-expm1(-1 / multiplier), k);
}

enum { IMPERFECT_MOST = 80 };

/* Cells that are compared with perfectly random functions. */
typedef struct perfection {
    const lab_entry *entries[IMPERFECT_MOST];
    double perfect[IMPERFECT_MOST];
    size_t count;
} perfection;

/* Adds all cells of a table. Rows and columns begin with k and M, unless both are given. */
static void add_cells(perfection *of, const lab_book *book, const char *id, double k, double multiplier)
{
    const lab_table *table = lab_book_find(book, id);
    for (size_t i = 0; table && i < table->rows * table->columns && of->count < IMPERFECT_MOST; i++) {
        const lab_entry *entry = lab_book_entry(book, id, table->entries[i].row, table->entries[i].column);
        if (!entry)
            continue;
        of->entries[of->count] = entry;
        of->perfect[of->count++] = perfect_rate(k > 0 ? k : strtod(entry->row, NULL),
                                                multiplier > 0 ? multiplier : strtod(entry->column, NULL));
    }
}

lab_holding lab_claim_imperfect(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    perfection of = {.count = 0};
    size_t judged = 0, more = 0, open = 0;
    double low = INFINITY, high = 0, least = INFINITY;
    add_cells(&of, book, "thesis-5.5", 1, 2.0);
    add_cells(&of, book, "thesis-5.6", 2, 2.0);
    add_cells(&of, book, "thesis-5.7", 3, 2.0);
    add_cells(&of, book, "thesis-5.9", 0, 0);
    if (of.count == 0)
        return LAB_UNJUDGED;
    for (size_t i = 0; i < of.count; i++) {
        lab_entry perfect = lab_exact_entry(of.perfect[i]);
        lab_ratio ratio = lab_ratio_of_rates_among(of.entries[i], &perfect, of.count);
        lab_comparison comparison = lab_compare(ratio, claim->margin);
        more += comparison == LAB_MORE;
        if (!ratio.known || !(ratio.low > 0) || ratio.high / ratio.low > 1 + claim->margin)
            continue; /* too wide to tell */
        judged++;
        open += comparison == LAB_OPEN;
        low = fmin(low, ratio.low);
        high = fmax(high, ratio.high);
        least = fmin(least, ratio.high);
    }
    if (judged == 0) {
        snprintf(sentence, room, "None of the %zu cells has enough counts", of.count);
        return more ? LAB_HOLDS : LAB_UNJUDGED;
    }
    snprintf(sentence, room,
             "In the %zu of %zu cells that tell, the rate divided by that of (3.5) is between %.4f and %.4f (99 %% for "
             "all of them together), so imperfect functions add at most %.2g %%, and in the best measured cell at most "
             "%.2g %%",
             judged, of.count, low, high, fmax(0, 100 * (high - 1)), fmax(0, 100 * (least - 1)));
    return more ? LAB_HOLDS : open ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
}

/* ---- how fast they are ---- */

lab_holding lab_claim_hash_time(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "thesis-hash-time", *const column = "salt and URL";
    static const char *const fast[] = {"Jenkins", "MurmurHash"}, *const slow[] = {"MD5", "SHA-1"};
    lab_comparison all = LAB_MORE;
    char text[2][2][LAB_RATIO_ROOM];
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++) {
            lab_cell_name quick = {id, fast[i], column}, other = {id, slow[j], column};
            if (!lab_book_entry(book, id, fast[i], column) || !lab_book_entry(book, id, slow[j], column))
                return LAB_UNJUDGED;
            lab_ratio ratio = lab_ratio_of_times(book, &other, &quick);
            lab_ratio_text(ratio, text[i][j]);
            all = lab_claim_both(all, lab_compare(ratio, claim->margin));
        }
    snprintf(sentence, room,
             "MD5 takes %s times as long as Jenkins's function and %s times as long as MurmurHash, SHA-1 %s and %s "
             "times",
             text[0][0], text[1][0], text[0][1], text[1][1]);
    return lab_holds_if_more(all);
}

/* ---- URLs that collide in every crawl ---- */

lab_holding lab_claim_same_values(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const id = "thesis-salt-place", *const murmur = "MurmurHash";
    const lab_entry *before = lab_book_entry(book, id, murmur, "8 HF, 5.0 M, salt before");
    const lab_entry *after = lab_book_entry(book, id, murmur, "8 HF, 5.0 M, salt after");
    const lab_entry *bytes = lab_book_entry(book, id, "one-at-a-time", "8 HF, 5.0 M, salt after");
    char text[LAB_RATIO_ROOM];
    if (!before || !after || !bytes)
        return LAB_UNJUDGED;
    lab_entry by_chance = lab_exact_entry(before->theory);
    lab_ratio ratio = lab_ratio_of_rates(after, &by_chance), usual = lab_ratio_of_rates(before, &by_chance);
    lab_comparison more = lab_compare(ratio, claim->margin), more_before = lab_compare(usual, claim->margin);
    snprintf(sentence, room,
             "With 8 functions and M = 5.0, chance gives %.2g %%, and MurmurHash with salts before the URL %.2g %%; "
             "with salts after it, %.2g %% (%s times chance), because URLs with the same 32-bit state collide for "
             "every salt, and %.2g %% with a function that reads byte by byte",
             before->theory, before->measured, after->measured, lab_ratio_text(ratio, text), bytes->measured);
    if (more_before == LAB_MORE)
        return LAB_HOLDS;
    return more == LAB_MORE ? LAB_CONDITIONS : more == LAB_OPEN ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
}
