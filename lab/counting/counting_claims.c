/* The claims of the counting notes, judged by our measurements. A claim whose tables are missing stays unjudged. */
#include <math.h>
#include <stdio.h>

#include "lab/counting/counting.h"
#include "lab/judge/judging.h"

enum { K_MOST = 12 };

static const lab_entry *at_k(const lab_book *book, unsigned k, const char *bits)
{
    char row[16];
    snprintf(row, sizeof row, "k = %u", k);
    return lab_book_entry(book, "counting-k", row, bits);
}

/* The k with the fewest false positives, apart from k = `except`; 0 if there are no figures. */
static unsigned best_measured(const lab_book *book, const char *bits, unsigned except)
{
    unsigned best = 0;
    double least = INFINITY;
    for (unsigned k = 1; k <= K_MOST; k++) {
        const lab_entry *entry = at_k(book, k, bits);
        if (!entry)
            return 0;
        if (k != except && entry->measured < least) {
            least = entry->measured;
            best = k;
        }
    }
    return best;
}

/* Holds if no other k has fewer false positives than the whole number next to (m/n) ln 2. */
lab_holding lab_claim_best_k(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const columns[] = {"4 bits", "8 bits", "12 bits"};
    enum { COLUMNS = 3 };
    unsigned best[COLUMNS];
    lab_outcomes worse = {0};
    for (unsigned i = 0; i < COLUMNS; i++) {
        unsigned claimed = (unsigned)lround(4.0 * (i + 1) * M_LN2), other = best_measured(book, columns[i], claimed);
        if (other == 0)
            return LAB_UNJUDGED;
        best[i] = best_measured(book, columns[i], 0);
        lab_ratio ratio =
            lab_ratio_of_rates_among(at_k(book, claimed, columns[i]), at_k(book, other, columns[i]), COLUMNS);
        lab_outcomes_add(&worse, lab_compare(ratio, claim->margin));
    }
    snprintf(sentence, room,
             "With 4, 8 and 12 bits per URL k = %u, %u and %u have the fewest false positives; (m/n) ln 2 is 2.8, 5.5 "
             "and 8.3",
             best[0], best[1], best[2]);
    return lab_holds_if_none_more(&worse);
}

static lab_holding judge_larger_k(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    unsigned best = best_measured(book, "8 bits", 0), other = best_measured(book, "8 bits", best);
    if (best == 0)
        return LAB_UNJUDGED;
    const lab_entry *first = at_k(book, 1, "8 bits"), *least = at_k(book, best, "8 bits");
    const lab_entry *last = at_k(book, K_MOST, "8 bits"), *next = at_k(book, other, "8 bits");
    snprintf(
        sentence, room,
        "With 8 bits per URL 1 function loses %.3g %%, %u lose %.3g %% and 12 lose %.3g %%: a larger k helps up to "
        "(m/n) ln 2",
        first->measured, best, least->measured, last->measured);
    if (best == K_MOST || best == 1) {
        lab_comparison ahead = lab_compare(lab_ratio_of_rates(next, least), claim->margin);
        return ahead != LAB_MORE ? LAB_UNJUDGED : best == 1 ? LAB_DOES_NOT_HOLD : LAB_HOLDS;
    }
    bool helps = lab_compare(lab_ratio_of_rates_among(first, least, 2), claim->margin) == LAB_MORE;
    bool harms = lab_compare(lab_ratio_of_rates_among(last, least, 2), claim->margin) == LAB_MORE;
    return helps && harms ? LAB_CONDITIONS : LAB_UNJUDGED;
}

static lab_holding judge_formula(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const columns[] = {"4 bits", "8 bits", "12 bits"};
    enum { COLUMNS = 3 };
    lab_entry formula[COLUMNS * K_MOST];
    lab_contest contest = {.count = 0};
    char text[LAB_RATIO_ROOM];
    for (unsigned i = 0; i < COLUMNS * K_MOST; i++) {
        unsigned k = i / COLUMNS + 1;
        const lab_entry *entry = at_k(book, k, columns[i % COLUMNS]);
        if (!entry)
            return LAB_UNJUDGED;
        formula[i] = lab_exact_entry(100 * pow(1 - exp(-(double)k / (4.0 * (i % COLUMNS + 1))), k));
        formula[i].row = entry->row;
        formula[i].column = entry->column;
        lab_contest_add(&contest, entry, &formula[i], "counting-k");
    }
    lab_contest_judge(&contest, claim->margin);
    if (contest.judged == 0)
        snprintf(sentence, room, "None of the %zu cells has enough counts%s", contest.count, contest.left_out);
    else
        snprintf(sentence, room,
                 "In %zu of %zu cells the ratio of the measured rate to the formula that differs most from 1 is %s%s",
                 contest.judged, contest.count, lab_ratio_text(contest.farthest, text), contest.left_out);
    return lab_holds_if_equal(contest.relation);
}

/* ---- all of them ---- */

#define SOURCE "the counting notes"

const lab_claim lab_counting_claims[] = {
    {"counting-formula", SOURCE, "A URL is falsely seen with a probability of (1 - e^(-kn/m))^k", "counting-k",
     .judge = judge_formula, .margin = LAB_RATE_MARGIN},
    {"counting-larger-k", SOURCE, "The larger k, the fewer false positives", "counting-k", .judge = judge_larger_k,
     .margin = LAB_RATE_MARGIN},
    {"counting-best-k", SOURCE, "The best k is (m/n) ln 2", "counting-k", .judge = lab_claim_best_k,
     .margin = LAB_RATE_MARGIN},
    {"counting-hashes", SOURCE, "Hashing URLs and looking for collisions takes too much space", "counting-space",
     /* Storing hashes is much more costly only if many errors are acceptable. */
     .cells = "counting-space @ error 1e-2 @ Bloom filter; @ error 1e-9; @ error 1e-2 @ stored hashes; @ error 1e-9; @ "
              "error 1e-2 @ one hash",
     .tests = {"true A>C", "true B<D/2"}, .rule = "a+ fails; b+ holds; conditions",
     .sentence =
         "For an error rate of 1e-2 a Bloom filter takes {A 3g} bits per URL, stored hashes {C 3g} and a single "
         "hash function {E 4g}; for 1e-9 the filter takes {B 3g} and stored hashes {D 3g}, and these could "
         "also be listed and deleted"},
    {"counting-space", SOURCE,
     "A Bloom filter is good if m/n is much less than the length of the key in bits plus log n", "counting-space",
     .cells = "counting-space @ error 1e-2 @ Bloom filter; @ error 1e-9; @@ URLs; @@ hashset",
     .tests = {"true B<C/2", "true B<C A<C"}, .rule = "a+ holds; b+ conditions; fails",
     .sentence =
         "The key and log n are {C 0f} bits per URL and a real hash table takes {D 0f}; a Bloom filter takes {A "
         "3g} for an error rate of 1e-2 and {B 3g} for 1e-9"},
    {"counting-larger", SOURCE, "Counters take more space than bits", "counting-counters",
     .cells = "counting-counters @ 4 bits @ memory", .tests = {"true A>1"},
     .sentence = "Counters of 4 bits take {A 3g} times the memory of bits for the same error rate"},
    {"counting-same-error", SOURCE, "The error probability of counters is that of bits", "counting-errors", .margin = 0,
     .margin_reason = "counters and bits use the same hash values, so their counts must be equal",
     .cells = "counting-errors @ 2 HF @ bits; @@ counters; @@ counters after deleting; @ 3 HF @ bits; @@ counters; @@ "
              "counters after deleting; @ 4 HF @ bits; @@ counters; @@ counters after deleting",
     .tests = {"true abs(B-A)<=1e-9*A abs(C-A)<=1e-9*A abs(E-D)<=1e-9*D abs(F-D)<=1e-9*D abs(H-G)<=1e-9*G "
               "abs(I-G)<=1e-9*G"},
     .sentence = "[a-|Counters and bits differ|Counters have exactly the same false positives as bits] for 2, 3 and 4 "
                 "functions ({A 4g}, {D 4g} and {G 4g} %), also when other URLs were inserted and deleted again"},
    {"counting-deleting", SOURCE, "Counters make it possible to delete URLs", "counting-counters",
     .cells = "counting-counters @ 4 bits @ forgotten; @@ full; @ 2 bits", .tests = {"true A>0 B>0"},
     .rule = "a+ conditions; holds",
     .sentence = "After all URLs were deleted, {B 2g} % of the counters of 4 bits and {C 3g} % of those of 2 bits were "
                 "not zero, because they had been full; and deleting a fiftieth as many URLs that were never inserted "
                 "made the filter forget {A 2g} % of those that were"},
    {"counting-lookup", SOURCE, "The smallest of a URL's counters tells how often it was inserted", "counting-counters",
     .cells = "counting-counters @ 4 bits @ too large", .tests = {"true A>0"}, .rule = "a+ conditions; holds",
     .sentence =
         "The minimum is never too small (up to the largest count that fits), but too large for {A 3g} % of the "
         "URLs with 3 functions and half of the counters in use: as often as a URL is falsely seen"},
    {.id = NULL},
};
