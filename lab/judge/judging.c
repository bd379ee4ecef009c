/*
 * Ratios with intervals. See judging.h.
 *
 * The interval of a ratio of rates comes from those of the two rates, on a logarithmic scale (Zou and Donner's method
 * of variance estimates recovery): it keeps the asymmetry of small counts and needs no counts, only the intervals that
 * every entry has.
 */
#include "lab/judge/judging.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/distributions.h"

/* The probability beyond each end of an interval that is one of `among`. */
static double tail_of(size_t among)
{
    return (1 - LAB_RATIO_LEVEL) / 2 / (double)among;
}

/*
 * By how much the 95 % interval of an entry must be stretched. An entry without a test against theory has an interval
 * estimated from its own runs, so a few runs need Student's distribution.
 */
static double stretch_of(const lab_entry *entry, double tail)
{
    double least = -lab_normal_z(tail) / LAB_INTERVAL_Z;
    if (!isnan(entry->z) || entry->runs < 2)
        return least;
    return fmax(least, lab_student_t(tail, (double)entry->runs - 1) / LAB_INTERVAL_Z);
}

/* The distance from the measured value to one end of the interval, as a logarithm and stretched. */
static double reach(const lab_entry *entry, double end, double stretch)
{
    return fabs(log(end / entry->measured)) * stretch;
}

/* Zero counts have no logarithm. The end of the interval is stretched as it is, which is rather too far. */
static double stretched_high(const lab_entry *entry, double stretch)
{
    return entry->measured > 0 ? entry->measured * exp(reach(entry, entry->high, stretch)) : entry->high * stretch;
}

static double stretched_low(const lab_entry *entry, double stretch)
{
    return entry->measured > 0 && entry->low > 0 ? entry->measured * exp(-reach(entry, entry->low, stretch)) : 0;
}

static bool has_interval(const lab_entry *entry)
{
    return entry->measured >= 0 && entry->high > entry->low && isfinite(entry->high);
}

lab_ratio lab_ratio_of_rates_among(const lab_entry *a, const lab_entry *b, size_t among)
{
    lab_ratio unknown = {(double)NAN, 0, INFINITY, false};
    if (!a || !b || among == 0 || !has_interval(a) || !has_interval(b) || !(a->measured + b->measured > 0))
        return unknown;
    double tail = tail_of(among), stretch_a = stretch_of(a, tail), stretch_b = stretch_of(b, tail);
    double a_low = stretched_low(a, stretch_a), a_high = stretched_high(a, stretch_a);
    double b_low = stretched_low(b, stretch_b), b_high = stretched_high(b, stretch_b);
    lab_ratio ratio = {a->measured / b->measured, a_low / b_high, b_low > 0 ? a_high / b_low : INFINITY, true};
    if (!(a->measured > 0) || !(b->measured > 0))
        return ratio;
    if (a_low > 0)
        ratio.low = ratio.value * exp(-hypot(log(a->measured / a_low), log(b_high / b->measured)));
    if (b_low > 0)
        ratio.high = ratio.value * exp(hypot(log(a_high / a->measured), log(b->measured / b_low)));
    return ratio;
}

lab_ratio lab_ratio_of_rates(const lab_entry *a, const lab_entry *b)
{
    return lab_ratio_of_rates_among(a, b, 1);
}

lab_ratio lab_ratio_of_pairs(const double *a, const double *b, size_t pairs)
{
    double count = 0, mean = 0, squares = 0;
    for (size_t i = 0; i < pairs; i++) {
        if (!(a[i] > 0) || !(b[i] > 0) || !isfinite(a[i]) || !isfinite(b[i]))
            continue;
        /* Welford's method: the logarithms of similar times differ in their last digits. */
        double logarithm = log(a[i] / b[i]), from_mean = logarithm - mean;
        mean += from_mean / ++count;
        squares += from_mean * (logarithm - mean);
    }
    lab_ratio ratio = {count > 0 ? exp(mean) : (double)NAN, 0, INFINITY, count >= LAB_RATIO_PAIRS};
    if (!ratio.known)
        return ratio;
    double reach = lab_student_t(tail_of(1), count - 1) * sqrt(squares / (count - 1) / count);
    ratio.low = ratio.value * exp(-reach);
    ratio.high = ratio.value * exp(reach);
    return ratio;
}

/* ---- times of a book ---- */

static size_t index_of(const char *const *names, const char *name)
{
    size_t i = 0;
    while (names[i] && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* The raw numbers of one cell: the first of them, and the distance to the next. */
typedef struct raw_cell {
    const double *first;
    size_t step, runs;
} raw_cell;

static raw_cell find_raw(const lab_book *book, const lab_cell_name *name)
{
    for (size_t i = 0; i < book->study_count; i++) {
        const lab_numbers *numbers = &book->numbers[i];
        if (!numbers->study || strcmp(numbers->study->id, name->study) != 0)
            continue;
        size_t rows = lab_study_rows(numbers->study), columns = lab_study_columns(numbers->study);
        size_t row = index_of(numbers->study->rows, name->row),
               column = index_of(numbers->study->columns, name->column);
        if (row == rows || column == columns)
            break;
        return (raw_cell){numbers->numbers + row * columns + column, rows * columns, numbers->settings.runs};
    }
    return (raw_cell){NULL, 0, 0};
}

lab_ratio lab_ratio_of_times(const lab_book *book, const lab_cell_name *cell, const lab_cell_name *base)
{
    raw_cell raw = find_raw(book, cell), to = base ? find_raw(book, base) : raw;
    lab_ratio ratio = {(double)NAN, 0, INFINITY, false};
    size_t runs = raw.runs < to.runs ? raw.runs : to.runs;
    double *numbers = runs > 0 ? malloc(2 * runs * sizeof *numbers) : NULL;
    if (!numbers)
        return ratio;
    for (size_t run = 0; run < runs; run++) {
        numbers[run] = raw.first[run * raw.step];
        numbers[runs + run] = base ? to.first[run * to.step] : 1;
    }
    ratio = lab_ratio_of_pairs(numbers, numbers + runs, runs);
    free(numbers);
    return ratio;
}

/* ---- relations ---- */

lab_relation lab_relate(lab_ratio ratio, double margin)
{
    double least = 1 / (1 + margin), most = 1 + margin;
    if (!ratio.known || isnan(ratio.low) || isnan(ratio.high))
        return LAB_TOO_LITTLE;
    if (ratio.low >= least && ratio.high <= most)
        return LAB_EQUAL;
    return ratio.low > most ? LAB_ABOVE : ratio.high < least ? LAB_BELOW : LAB_TOO_LITTLE;
}

lab_comparison lab_compare(lab_ratio ratio, double margin)
{
    if (!ratio.known || isnan(ratio.low) || isnan(ratio.high))
        return LAB_OPEN;
    return ratio.low > 1 + margin ? LAB_MORE : ratio.high <= 1 + margin ? LAB_NOT_MORE : LAB_OPEN;
}

void lab_outcomes_add(lab_outcomes *outcomes, lab_comparison comparison)
{
    outcomes->more += comparison == LAB_MORE;
    outcomes->not_more += comparison == LAB_NOT_MORE;
    outcomes->open += comparison == LAB_OPEN;
}

lab_holding lab_holds_if_equal(lab_relation relation)
{
    return relation == LAB_EQUAL ? LAB_HOLDS : relation == LAB_TOO_LITTLE ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
}

lab_holding lab_holds_if_more(lab_comparison comparison)
{
    return comparison == LAB_MORE ? LAB_HOLDS : comparison == LAB_OPEN ? LAB_UNJUDGED : LAB_DOES_NOT_HOLD;
}

lab_holding lab_holds_if_all_more(const lab_outcomes *outcomes)
{
    return outcomes->not_more ? LAB_DOES_NOT_HOLD : outcomes->open ? LAB_UNJUDGED : LAB_HOLDS;
}

lab_holding lab_holds_if_none_more(const lab_outcomes *outcomes)
{
    return outcomes->more ? LAB_DOES_NOT_HOLD : outcomes->open ? LAB_UNJUDGED : LAB_HOLDS;
}

lab_entry lab_exact_entry(double value)
{
    /* The interval is not empty, because an entry without one tells nothing. */
    return (lab_entry){
        .row = "", .column = "", .measured = value, .low = value * (1 - 1e-12), .high = value * (1 + 1e-12), .runs = 1};
}

lab_ratio lab_exact_ratio(double value)
{
    return (lab_ratio){value, value, value, !isnan(value)};
}

lab_ratio lab_ratio_to(lab_ratio ratio, double expected)
{
    return (lab_ratio){ratio.value / expected, ratio.low / expected, ratio.high / expected, ratio.known};
}

const char *lab_ratio_text(lab_ratio ratio, char text[LAB_RATIO_ROOM])
{
    /* Three digits, but never an exponent; more digits near 1, where claims of equality are decided. */
    int decimals = ratio.value >= 100 ? 0 : ratio.value >= 10 ? 1 : fabs(ratio.value - 1) < 0.1 ? 3 : 2;
    if (ratio.known)
        snprintf(text, LAB_RATIO_ROOM, "%.*f (%.*f to %.*f)", decimals, ratio.value, decimals, ratio.low, decimals,
                 ratio.high);
    else
        snprintf(text, LAB_RATIO_ROOM, "unknown");
    return text;
}

/* ---- several pairs ---- */

void lab_contest_add(lab_contest *contest, const lab_entry *a, const lab_entry *b, const char *table)
{
    if (a && b && contest->count < LAB_CONTEST_PAIRS)
        contest->pairs[contest->count++] = (struct lab_contest_pair){a, b, table};
}

static bool has_power(lab_ratio ratio, double margin)
{
    return ratio.known && ratio.low > 0 && log(ratio.high / ratio.low) <= log1p(margin);
}

static double difference(lab_ratio ratio)
{
    return ratio.known ? fabs(log(ratio.value)) : 0;
}

/* Names the pairs that are left out; those for which there is no room are counted. */
typedef struct omissions {
    size_t count, named;
} omissions;

static void leave_out(lab_contest *contest, omissions *omissions, const struct lab_contest_pair *pair)
{
    const size_t kept = 32; /* room for "and 64 more" */
    char name[LAB_REMARK_ROOM];
    int length = snprintf(name, sizeof name, "%s%s %s %s",
                          omissions->count ? ", " : "; left out, because too little was measured: ", pair->table,
                          pair->b->row, pair->b->column);
    size_t used = strlen(contest->left_out);
    omissions->count++;
    if (length < 0 || used + (size_t)length + kept > LAB_CONTEST_ROOM || omissions->named + 1 < omissions->count)
        return;
    snprintf(contest->left_out + used, LAB_CONTEST_ROOM - used, "%s", name);
    omissions->named++;
}

static void count_unnamed(lab_contest *contest, const omissions *omissions)
{
    size_t used = strlen(contest->left_out);
    if (omissions->named < omissions->count)
        snprintf(contest->left_out + used, LAB_CONTEST_ROOM - used, " and %zu more",
                 omissions->count - omissions->named);
}

void lab_contest_judge(lab_contest *contest, double margin)
{
    bool undecided = false;
    omissions omissions = {0, 0};
    contest->relation = LAB_EQUAL;
    contest->judged = contest->equal = contest->above = contest->below = 0;
    contest->left_out[0] = 0;
    contest->farthest = (lab_ratio){1, 1, 1, false};
    for (size_t i = 0; i < contest->count; i++) {
        const struct lab_contest_pair *pair = &contest->pairs[i];
        lab_ratio ratio = lab_ratio_of_rates_among(pair->a, pair->b, contest->count);
        lab_relation relation = lab_relate(ratio, margin);
        bool differs = relation == LAB_ABOVE || relation == LAB_BELOW;
        if (!differs && !has_power(ratio, margin)) {
            leave_out(contest, &omissions, pair);
            continue;
        }
        contest->judged++;
        undecided |= relation == LAB_TOO_LITTLE;
        contest->equal += relation == LAB_EQUAL;
        contest->above += relation == LAB_ABOVE;
        contest->below += relation == LAB_BELOW;
        if (differs && contest->relation == LAB_EQUAL)
            contest->relation = relation;
        if (!contest->farthest.known || difference(ratio) > difference(contest->farthest))
            contest->farthest = ratio;
    }
    count_unnamed(contest, &omissions);
    if (contest->relation == LAB_EQUAL && (undecided || contest->judged == 0))
        contest->relation = LAB_TOO_LITTLE;
}
