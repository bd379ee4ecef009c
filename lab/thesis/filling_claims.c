/*
 * Judges what the thesis concludes from how its filters fill up, and from comparing its approaches and strategies with
 * each other. See thesis.h.
 */
#include <math.h>
#include <stdio.h>

#include "lab/thesis/thesis.h"

/* ---- after 600,000 URLs ---- */

#define LATE 0.6 /* of the URLs */

/*
 * The pages lost after 600,000 URLs are more than half of all if those lost before are less than half: 0.6 times the
 * share that the first 60 % lose, divided by the share that all lose.
 */
static lab_comparison mostly_late(const lab_entry *early, const lab_entry *all, double margin)
{
    return lab_compare(lab_ratio_to(lab_ratio_of_rates(all, early), 2 * LATE), margin);
}

static double late_percent(const lab_entry *early, const lab_entry *all)
{
    return 100 * (1 - LATE * early->measured / all->measured);
}

lab_holding lab_claim_late(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const char *const ids[] = {"thesis-fig-A.1", "thesis-fig-A.2", "thesis-fig-A.3", "thesis-fig-A.4"};
    static const char *const usual = "thesis-fig-A.2";
    lab_comparison late = LAB_MORE;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const lab_entry *early = lab_book_entry(book, ids[i], "3 HF", "first 60 %");
        const lab_entry *all = lab_book_entry(book, ids[i], "3 HF", "all");
        if (!early || !all)
            return LAB_UNJUDGED;
        late = lab_claim_both(late, mostly_late(early, all, claim->margin));
    }
    const lab_entry *early = lab_book_entry(book, usual, "3 HF", "first 60 %");
    const lab_entry *all = lab_book_entry(book, usual, "3 HF", "all");
    const lab_entry *early_more = lab_book_entry(book, usual, "6 HF", "first 60 %");
    const lab_entry *all_more = lab_book_entry(book, usual, "6 HF", "all");
    if (!early_more || !all_more)
        return LAB_UNJUDGED;
    snprintf(sentence, room,
             "With 3 functions, one filter and M = 2.0, %.3g %% of the first 60 %% of the URLs are lost and %.3g %% of "
             "all: %.0f %% of the lost pages come after 600,000 URLs; but nothing begins there, because the rate grows "
             "with every URL, and with 6 functions %.0f %% come after them",
             early->measured, all->measured, late_percent(early, all), late_percent(early_more, all_more));
    lab_comparison as_well = mostly_late(early_more, all_more, claim->margin);
    if (late == LAB_OPEN || (late == LAB_MORE && as_well == LAB_OPEN))
        return LAB_UNJUDGED;
    return late == LAB_NOT_MORE ? LAB_DOES_NOT_HOLD : as_well == LAB_MORE ? LAB_CONDITIONS : LAB_HOLDS;
}

/* ---- the approaches ---- */

lab_holding lab_claim_worst_case(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const lab_cell_name full[] = {
        {"thesis-5.9", "3 HF", "2.0 M"}, {"thesis-5.16", "3 HF", "2.0 M"}, {"thesis-5.18", "3 HF", "2.0 M"}};
    static const lab_cell_name filling[] = {{"thesis-5.17", "3 HF", "1 filter 2.0 M"},
                                            {"thesis-fig-5.1", "3 HF", "same order"},
                                            {"thesis-5.17", "3 HF", "2 filters 2.0 M"}};
    enum { PAIRS = sizeof full / sizeof *full };
    lab_comparison worse = LAB_MORE;
    double times[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) {
        const lab_entry *a = lab_book_entry(book, full[i].study, full[i].row, full[i].column);
        const lab_entry *b = lab_book_entry(book, filling[i].study, filling[i].row, filling[i].column);
        if (!a || !b)
            return LAB_UNJUDGED;
        lab_ratio ratio = lab_ratio_of_rates_among(a, b, PAIRS);
        times[i] = ratio.value;
        worse = lab_claim_both(worse, lab_compare(ratio, claim->margin));
    }
    snprintf(sentence, room,
             "With 3 functions and M = 2.0, a full filter errs %.2f times as often as one that fills up does on "
             "average, two crawls together %.2f times and two filters %.2f times",
             times[0], times[1], times[2]);
    return lab_holds_if_more(worse);
}

lab_holding lab_claim_doubling(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    const lab_entry *one = lab_book_entry(book, "thesis-5.1", "Jenkins", "FP");
    const lab_entry *two = lab_book_entry(book, "thesis-5.2", "Jenkins (seeded)", "FP");
    const lab_entry *one_full = lab_book_entry(book, "thesis-5.5", "Jenkins", "FP");
    const lab_entry *two_full = lab_book_entry(book, "thesis-5.6", "Jenkins (seeded)", "FP");
    char text[LAB_RATIO_ROOM], text_full[LAB_RATIO_ROOM];
    if (!one || !two || !one_full || !two_full)
        return LAB_UNJUDGED;
    lab_ratio filling = lab_ratio_of_rates_among(one, two, 2), full = lab_ratio_of_rates_among(one_full, two_full, 2);
    lab_relation fourth = lab_relate(lab_ratio_to(filling, 4), claim->margin);
    lab_comparison half = lab_compare(lab_ratio_to(full, 2), 0);
    snprintf(sentence, room,
             "With M = 2.0, two functions and twice the bits divide the rate of one function by %s if incremental, and "
             "by %s if not",
             lab_ratio_text(filling, text), lab_ratio_text(full, text_full));
    if (fourth == LAB_TOO_LITTLE || half == LAB_OPEN)
        return LAB_UNJUDGED;
    return fourth == LAB_EQUAL && half == LAB_MORE   ? LAB_HOLDS
           : fourth == LAB_EQUAL || half == LAB_MORE ? LAB_CONDITIONS
                                                     : LAB_DOES_NOT_HOLD;
}

/* ---- both strategies, or the temporal one alone ---- */

/* Cells that lose fewer pages cannot tell, and more pairs would make every interval wider. */
lab_holding lab_claim_only_temporal(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const struct {
        const char *id, *row, *column, *joined;
    } cells[] = {{"thesis-5.20", "2 HF", "1.7 M", "4 HF"},
                 {"thesis-5.20", "2 HF", "2.0 M", "4 HF"},
                 {"thesis-5.20", "2 HF", "2.5 M", "4 HF"},
                 {"thesis-5.20", "3 HF", "1.7 M", "6 HF"},
                 {"thesis-5.21", "2 HF", "1.7 M", "6 HF"}};
    lab_contest contest = {.count = 0};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        lab_contest_add(&contest, lab_book_entry(book, "thesis-5.16", cells[i].joined, cells[i].column),
                        lab_book_entry(book, cells[i].id, cells[i].row, cells[i].column), cells[i].id);
    return lab_claim_equal(claim, &contest, "pairs of one filter with F k functions and F filters with k in two crawls",
                           sentence, room);
}

/* ---- algorithm 4 ---- */

/* The table gives times divided by that of one filter: 1 if a lookup ends at the first zero bit. */
lab_holding lab_claim_early_exit(const lab_claim *claim, const lab_book *book, char *sentence, size_t room)
{
    static const lab_cell_name printed = {"thesis-A-filters", "3 filters", "query, first zero bit of each filter"};
    static const lab_cell_name said = {"thesis-A-filters", "3 filters", "query, first zero bit"};
    char text[LAB_RATIO_ROOM], text_said[LAB_RATIO_ROOM];
    if (!lab_book_entry(book, printed.study, printed.row, printed.column) ||
        !lab_book_entry(book, said.study, said.row, said.column))
        return LAB_UNJUDGED;
    lab_ratio as_printed = lab_ratio_of_times(book, &printed, NULL), as_said = lab_ratio_of_times(book, &said, NULL);
    lab_relation ends = lab_relate(as_printed, claim->margin);
    snprintf(sentence, room,
             "A lookup in three filters takes %s times as long as in one if algorithm 4 is carried out as printed, "
             "where a zero bit ends the loop over one filter's functions only, and %s times if it ends the lookup",
             lab_ratio_text(as_printed, text), lab_ratio_text(as_said, text_said));
    return lab_holds_if_equal(ends);
}
