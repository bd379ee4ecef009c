/* Judges the claims of the counting notes by our measurements. A claim whose tables are missing stays unjudged. */
#include <math.h>
#include <stdio.h>

#include "lab/counting/notes.h"
#include "lab/judge/judging.h"

enum { K_MOST = 12 };

/* ---- k ---- */

static const lab_entry *at_k(const lab_book *book, unsigned k, const char *bits)
{
    char row[16];
    snprintf(row, sizeof row, "k = %u", k);
    return lab_book_entry(book, "notes-k", row, bits);
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
        lab_contest_add(&contest, entry, &formula[i], "notes-k");
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

/* ---- counters ---- */

/* Equal to the last count: counters and bits answer from the same hash values. */
static lab_holding judge_same_error(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const rows[] = {"2 HF", "3 HF", "4 HF"};
    double bits[3];
    bool same = true;
    (void)claim;
    for (unsigned i = 0; i < 3; i++) {
        double counters = lab_book_measured(book, "notes-counting", rows[i], "counters");
        double deleted = lab_book_measured(book, "notes-counting", rows[i], "counters after deleting");
        bits[i] = lab_book_measured(book, "notes-counting", rows[i], "bits");
        if (isnan(bits[i]) || isnan(counters) || isnan(deleted))
            return LAB_UNJUDGED;
        same &= fabs(counters - bits[i]) <= 1e-9 * bits[i] && fabs(deleted - bits[i]) <= 1e-9 * bits[i];
    }
    snprintf(
        sentence, room,
        "%s for 2, 3 and 4 functions (%.4g, %.4g and %.4g %%), also when other URLs were inserted and deleted again",
        same ? "Counters have exactly the same false positives as bits" : "Counters and bits differ", bits[0], bits[1],
        bits[2]);
    return same ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

static lab_holding judge_deleting(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double forgotten = lab_book_measured(book, "notes-counters", "4 bits", "forgotten");
    double left = lab_book_measured(book, "notes-counters", "4 bits", "full");
    double small = lab_book_measured(book, "notes-counters", "2 bits", "full");
    (void)claim;
    if (isnan(forgotten) || isnan(left) || isnan(small))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "After all URLs were deleted, %.2g %% of the counters of 4 bits and %.3g %% of those of 2 bits were not "
             "zero, because they had been full; and deleting a fiftieth as many URLs that were never inserted made "
             "the filter forget %.2g %% of those that were",
             left, small, forgotten);
    return forgotten > 0 || left > 0 ? LAB_CONDITIONS : LAB_HOLDS;
}

static lab_holding judge_lookup(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double large = lab_book_measured(book, "notes-counters", "4 bits", "too large");
    (void)claim;
    if (isnan(large))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "The minimum is never too small (up to the largest count that fits), but too large for %.3g %% of the URLs "
        "with 3 functions and half of the counters in use: as often as a URL is falsely seen",
        large);
    return large > 0 ? LAB_CONDITIONS : LAB_HOLDS;
}

static lab_holding judge_larger(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double four = lab_book_measured(book, "notes-counters", "4 bits", "memory");
    (void)claim;
    if (isnan(four))
        return LAB_UNJUDGED;
    snprintf(sentence, room, "Counters of 4 bits take %.3g times the memory of bits for the same error rate", four);
    return four > 1 ? LAB_HOLDS : LAB_DOES_NOT_HOLD;
}

/* ---- space ---- */

static lab_holding judge_space(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double common = lab_book_measured(book, "notes-space", "error 1e-2", "Bloom filter");
    double rare = lab_book_measured(book, "notes-space", "error 1e-9", "Bloom filter");
    double urls = lab_book_measured(book, "notes-space", "error 1e-9", "URLs");
    double hashset = lab_book_measured(book, "notes-space", "error 1e-9", "hashset");
    (void)claim;
    if (isnan(common) || isnan(rare) || isnan(urls) || isnan(hashset))
        return LAB_UNJUDGED;
    snprintf(
        sentence, room,
        "The key and log n are %.0f bits per URL and a real hash table takes %.0f; a Bloom filter takes %.3g for an "
        "error rate of 1e-2 and %.3g for 1e-9",
        urls, hashset, common, rare);
    return rare < urls / 2 ? LAB_HOLDS : rare < urls || common < urls ? LAB_CONDITIONS : LAB_DOES_NOT_HOLD;
}

/* Storing hashes is much more costly only if many errors are acceptable. */
static lab_holding judge_hashes(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    double common = lab_book_measured(book, "notes-space", "error 1e-2", "Bloom filter");
    double rare = lab_book_measured(book, "notes-space", "error 1e-9", "Bloom filter");
    double common_hashes = lab_book_measured(book, "notes-space", "error 1e-2", "stored hashes");
    double rare_hashes = lab_book_measured(book, "notes-space", "error 1e-9", "stored hashes");
    double one_hash = lab_book_measured(book, "notes-space", "error 1e-2", "one hash");
    (void)claim;
    if (isnan(common) || isnan(rare) || isnan(common_hashes) || isnan(rare_hashes) || isnan(one_hash))
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "For an error rate of 1e-2 a Bloom filter takes %.3g bits per URL, stored hashes %.3g and a single hash "
             "function %.4g; for 1e-9 the filter takes %.3g and stored hashes %.3g, and these could also be listed "
             "and deleted",
             common, common_hashes, one_hash, rare, rare_hashes);
    if (common > common_hashes)
        return LAB_DOES_NOT_HOLD;
    return rare < rare_hashes / 2 ? LAB_HOLDS : LAB_CONDITIONS;
}

#define SOURCE .source = "the counting notes"

const lab_claim lab_notes_claims[] = {
    {.id = "notes-formula",
     SOURCE,
     .text = "A URL is falsely seen with a probability of (1 - e^(-kn/m))^k",
     .evidence = "notes-k",
     .judge = judge_formula,
     .margin = LAB_RATE_MARGIN},
    {.id = "notes-larger-k",
     SOURCE,
     .text = "The larger k, the fewer false positives",
     .evidence = "notes-k",
     .judge = judge_larger_k,
     .margin = LAB_RATE_MARGIN},
    {.id = "notes-best-k",
     SOURCE,
     .text = "The best k is (m/n) ln 2",
     .evidence = "notes-k",
     .judge = lab_claim_best_k,
     .margin = LAB_RATE_MARGIN},
    {.id = "notes-hashes",
     SOURCE,
     .text = "Hashing URLs and looking for collisions takes too much space",
     .evidence = "notes-space",
     .judge = judge_hashes},
    {.id = "notes-space",
     SOURCE,
     .text = "A Bloom filter is good if m/n is much less than the length of the key in bits plus log n",
     .evidence = "notes-space",
     .judge = judge_space},
    {.id = "notes-larger",
     SOURCE,
     .text = "Counters take more space than bits",
     .evidence = "notes-counters",
     .judge = judge_larger},
    {.id = "notes-same-error",
     SOURCE,
     .text = "The error probability of counters is that of bits",
     .evidence = "notes-counting",
     .judge = judge_same_error,
     .margin = 0,
     .margin_reason = "counters and bits use the same hash values, so their counts must be equal"},
    {.id = "notes-deleting",
     SOURCE,
     .text = "Counters make it possible to delete URLs",
     .evidence = "notes-counters",
     .judge = judge_deleting},
    {.id = "notes-lookup",
     SOURCE,
     .text = "The smallest of a URL's counters tells how often it was inserted",
     .evidence = "notes-counters",
     .judge = judge_lookup},
    {.id = NULL},
};
