/*
 * Ratios of two measurements with their 99 % intervals, and what an interval says about a claim.
 *
 * A claim states a margin before anything is measured. Two figures are equal if the whole interval of their ratio lies
 * within the margin, and different if it lies wholly outside. Otherwise too little was measured to tell: a wide
 * interval proves neither.
 *
 *             1/(1+m)     1     1+m
 *   ------------[---------+------]------------
 *    |-below-|              |-|  |          |-above-|
 *                     equal -^   |
 *                      too little: |-----|
 *
 * If several pairs support one claim, the level is divided by their number (Bonferroni), so that 99 % holds for all of
 * them together.
 */
#ifndef VIDI_LAB_JUDGE_JUDGING_H
#define VIDI_LAB_JUDGE_JUDGING_H

#include "lab/engine/study.h"

#define LAB_RATIO_LEVEL 0.99
enum { LAB_RATIO_PAIRS = 5 }; /* fewer pairs of times give no interval */

/* A ratio with its 99 % interval; `known` is false if too little was measured for an interval. */
typedef struct lab_ratio {
    double value, low, high;
    bool known;
} lab_ratio;

/*
 * The ratio a / b of two measured rates, which are taken as independent. Rates that share URLs or salts vary together,
 * so their true interval is narrower. `among` is the number of ratios that are judged together.
 */
lab_ratio lab_ratio_of_rates(const lab_entry *a, const lab_entry *b);
lab_ratio lab_ratio_of_rates_among(const lab_entry *a, const lab_entry *b, size_t among);

/*
 * The ratio of times that were measured in pairs, a[i] and b[i] together: their geometric mean, with an interval by
 * Student's t. Pairs in which a number is not positive do not count.
 */
lab_ratio lab_ratio_of_pairs(const double *a, const double *b, size_t pairs);

/*
 * The same for two cells of a study in the book, paired by run. If `base` is NULL, the cell already contains ratios.
 * Unknown if the book has no raw numbers of the study or the cell.
 */
typedef struct lab_cell_name {
    const char *study, *row, *column;
} lab_cell_name;

lab_ratio lab_ratio_of_times(const lab_book *book, const lab_cell_name *cell, const lab_cell_name *base);

typedef enum lab_relation { LAB_TOO_LITTLE, LAB_EQUAL, LAB_ABOVE, LAB_BELOW } lab_relation;

/* LAB_EQUAL: the interval lies inside [1/(1+margin), 1+margin]; LAB_ABOVE, LAB_BELOW: wholly outside. */
lab_relation lab_relate(lab_ratio ratio, double margin);

/*
 * For claims that one figure is larger: LAB_MORE if the whole interval lies above 1 + margin, LAB_NOT_MORE if none of
 * it does, otherwise open.
 */
typedef enum lab_comparison { LAB_NOT_MORE, LAB_MORE, LAB_OPEN } lab_comparison;

lab_comparison lab_compare(lab_ratio ratio, double margin);

/* How several comparisons went. Begin with {0}. */
typedef struct lab_outcomes {
    size_t more, not_more, open;
} lab_outcomes;

void lab_outcomes_add(lab_outcomes *outcomes, lab_comparison comparison);

/* What becomes of a claim that two figures are equal, or that one is larger. */
lab_holding lab_holds_if_equal(lab_relation relation);
lab_holding lab_holds_if_more(lab_comparison comparison);

/* The same for several comparisons, all of which must come out as claimed. */
lab_holding lab_holds_if_all_more(const lab_outcomes *outcomes);
lab_holding lab_holds_if_none_more(const lab_outcomes *outcomes);

/* A number that chance plays no part in, as an entry and as a ratio. */
lab_entry lab_exact_entry(double value);
lab_ratio lab_exact_ratio(double value);

/* Divides a ratio and its interval by `expected`: "twice as much" is a ratio of 1 to the expected 2. */
lab_ratio lab_ratio_to(lab_ratio ratio, double expected);

/* "1.02 (0.98 to 1.06)"; "unknown" without an interval. */
enum { LAB_RATIO_ROOM = 64 };
const char *lab_ratio_text(lab_ratio ratio, char text[LAB_RATIO_ROOM]);

/* ---- several pairs ---- */

enum { LAB_CONTEST_PAIRS = 64, LAB_CONTEST_ROOM = 1024 };

/* Pairs of rates that a claim says are equal. Begin with {.count = 0}. */
typedef struct lab_contest {
    struct lab_contest_pair {
        const lab_entry *a, *b;
        const char *table; /* of b, by which a pair is named */
    } pairs[LAB_CONTEST_PAIRS];
    size_t count;
    /* Set by lab_contest_judge: */
    lab_relation relation;           /* LAB_ABOVE or LAB_BELOW: the first pair that differs */
    size_t judged;                   /* pairs with power, and those that differ */
    size_t equal, above, below;      /* of the judged pairs */
    lab_ratio farthest;              /* of the judged pairs, the one with the largest difference */
    char left_out[LAB_CONTEST_ROOM]; /* "; left out ...": the pairs without power; empty if there are none */
} lab_contest;

/* Adds a pair; does nothing if one of the two is NULL. */
void lab_contest_add(lab_contest *contest, const lab_entry *a, const lab_entry *b, const char *table);

/*
 * Judges all pairs together. A pair has power if its interval is no wider than the margin, so that equal rates would
 * almost certainly be found equal. Pairs without power are left out and named, unless they are wholly outside the
 * margin. LAB_EQUAL: every judged pair is equal. LAB_TOO_LITTLE: a judged pair is undecided, or no pair has power.
 */
void lab_contest_judge(lab_contest *contest, double margin);

#endif
