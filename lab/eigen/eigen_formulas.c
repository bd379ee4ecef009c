/*
 * The eigenvalue paper's formulas as printed, compared with the right formulas and with filters.
 *
 *   (1)  gives 1 - e^(-kn/m) as the share of bits that stay 0, but it is the share of bits that are 1. The two are
 *        equal if half of the bits are set, which is the case for the best k: there the mistake does not show.
 *   (2)  is right, because it uses the left side of (1).
 *   (3)  has one minus sign too many: 1 - e^(-ln(p)/k) is negative and has no logarithm.
 *   (4)  divides by m, although features set only the m - m1 bits of the second region; and it counts n features,
 *        although only different ones matter.
 *   (5)  multiplies by (4) as if the features of a URL that is looked up were never known. With the features of the
 *        paper's table 1, those of a page of a known site always are.
 *   (6)  multiplies the exponents of the two factors instead of adding them. Both logarithms are negative, so the
 *        "probability" is above 1.
 */
#include "lab/eigen/eigen.h"

#include <math.h>
#include <stdio.h>

enum formula { UNMARKED, UNMARKED_BEST, ERROR, BITS, FEATURES, PRODUCT, PRODUCT_LABELS, EXPONENTS, FORMULAS };

enum { AS_PRINTED, MEASURED, COLUMNS, BEST_K = 22, DEPTH = 100 };

static const char *const formulas[] = {
    "(1) bits that stay 0, k = 3", "(1) bits that stay 0, k = 22", "(2) falsely seen, k = 3",
    "(3) m/n for that rate",       "(4) features falsely known",   "(5) product, all features new",
    "(5) product, known sites",    "(6) as one exponent",          NULL};

static const char *const formula_columns[] = {"as printed", "measured", NULL};

static const lab_eigen_filter classic = {"classic", NULL, LAB_EIGEN_K, 0, false};
static const lab_eigen_filter best = {"best k", NULL, BEST_K, 0, false};
static const lab_eigen_filter tail = {"tail", "tail", LAB_EIGEN_K, LAB_EIGEN_D, true};
static const lab_eigen_filter labels = {"labels", "labels", LAB_EIGEN_K, LAB_EIGEN_D, true};

/* ---- measuring ---- */

typedef struct outcome {
    vidi_stats stats;
    double seen; /* of n further pages of the same sites */
} outcome;

static int deed_on_all(vidi_set *set, const lab_settings *settings, uint64_t run, bool asks, double *seen)
{
    uint64_t n = lab_eigen_urls(settings);
    char url[LAB_URL_ROOM];
    int verdict;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t site = i / DEPTH, number = site * 2 * DEPTH + i % DEPTH + (asks ? DEPTH : 0);
        size_t length = lab_deep_url(url, settings, run, site, number);
        vidi_str text = {url, length};
        LAB_TRY(verdict = asks ? vidi_has(set, text) : vidi_add(set, text));
        *seen += verdict == VIDI_SEEN;
    }
    return VIDI_OK;
}

static int try_filter(outcome *outcome, const lab_eigen_filter *filter, const lab_settings *settings, uint64_t run)
{
    vidi_set *set;
    double ignored = 0;
    LAB_BLOCK;
    LAB_TRY(lab_eigen_make(&set, filter, "sip13", settings, run, lab_eigen_urls(settings)));
    LAB_TRY(deed_on_all(set, settings, run, false, &ignored));
    LAB_TRY(deed_on_all(set, settings, run, true, &outcome->seen));
    outcome->stats.size = sizeof outcome->stats;
    return vidi_stat(set, &outcome->stats);
}

/* Set bits of the second region: those of both minus those of the first, whose share follows from the error rate. */
static double second_marked(const vidi_stats *stats, const lab_eigen_filter *filter, uint64_t n)
{
    double first = (double)lab_eigen_first(filter, n), second = (double)lab_eigen_second(filter, n);
    return round(stats->fill * (first + second)) - round(pow(stats->fp_now, 1.0 / filter->k) * first);
}

/* Numbers are counts where bits or URLs are counted. */
static int measure_formulas(const lab_settings *settings, uint64_t run, double *numbers)
{
    uint64_t n = lab_eigen_urls(settings);
    double bits = LAB_EIGEN_BITS * (double)n, measured[FORMULAS];
    outcome of_classic = {0}, of_best = {0}, of_tail = {0}, of_labels = {0};
    LAB_TRY(try_filter(&of_classic, &classic, settings, run));
    LAB_TRY(try_filter(&of_best, &best, settings, run));
    LAB_TRY(try_filter(&of_tail, &tail, settings, run));
    LAB_TRY(try_filter(&of_labels, &labels, settings, run));
    measured[UNMARKED] = bits - round(of_classic.stats.fill * bits);
    measured[UNMARKED_BEST] = bits - round(of_best.stats.fill * bits);
    measured[ERROR] = of_classic.seen;
    measured[BITS] = -LAB_EIGEN_K / log1p(-pow(of_classic.stats.fp_now, 1.0 / LAB_EIGEN_K));
    measured[FEATURES] = second_marked(&of_tail.stats, &tail, n);
    measured[PRODUCT] = measured[EXPONENTS] = of_tail.seen;
    measured[PRODUCT_LABELS] = of_labels.seen;
    for (size_t i = 0; i < FORMULAS; i++) {
        numbers[i * COLUMNS + AS_PRINTED] = 0;
        numbers[i * COLUMNS + MEASURED] = measured[i];
    }
    return VIDI_OK;
}

/* ---- judging ---- */

/* The paper's formulas: m/n, and the factors of (2) and (4), both with the m of the whole array. */
static double as_printed(enum formula formula)
{
    double k = LAB_EIGEN_K, d = LAB_EIGEN_D, bits = LAB_EIGEN_BITS, more = bits * 4 / 3;
    double one = log(-expm1(-k / more)), two = log(-expm1(-d / more)), rate = pow(-expm1(-k / bits), k);
    switch (formula) {
    case UNMARKED:
        return -expm1(-k / bits);
    case UNMARKED_BEST:
        return -expm1(-BEST_K / bits);
    case ERROR:
        return rate;
    case BITS:
        return -k / log(1 - exp(-log(rate) / k));
    case FEATURES:
        return exp(d * two);
    case PRODUCT:
    case PRODUCT_LABELS:
        return exp(k * one) * exp(d * two);
    default:
        return exp(d * k * one * two);
    }
}

static lab_theory unmarked(const lab_eigen_filter *filter, uint64_t n)
{
    double m = (double)lab_eigen_first(filter, n);
    lab_fill fill = lab_fill_after((double)filter->k * (double)n, m);
    return (lab_theory){m * (1 - fill.mean), m * m * fill.variance, m};
}

static lab_theory right(enum formula formula, uint64_t n)
{
    double second = (double)lab_eigen_second(&tail, n);
    lab_fill fill = lab_fill_after(LAB_EIGEN_D * (double)n, second);
    switch (formula) {
    case UNMARKED:
        return unmarked(&classic, n);
    case UNMARKED_BEST:
        return unmarked(&best, n);
    case ERROR:
        return lab_eigen_theory(&classic, n, (double)n, 0);
    case FEATURES:
        return (lab_theory){second * fill.mean, second * second * fill.variance, second};
    case PRODUCT_LABELS:
        return lab_eigen_theory(&labels, n, (double)n, (double)n);
    default:
        return lab_eigen_theory(&tail, n, (double)n, 0);
    }
}

static const char *const why[FORMULAS] = {
    [UNMARKED] = "this is the share of bits that are 1",
    [UNMARKED_BEST] = "the same mistake, hidden because half of the bits are set",
    [BITS] = "one minus too many: the logarithm of a negative number",
    [FEATURES] = "divides by m, but features set only m - m1 bits",
    [PRODUCT] = "uses the m of the whole array in both factors",
    [PRODUCT_LABELS] = "features of known sites are known, so the second factor is 1",
    [EXPONENTS] = "exponents are multiplied instead of added: not a probability",
};

static void judge_printed(lab_entry *entry, enum formula formula, double is_right)
{
    double printed = as_printed(formula);
    entry->theory = is_right;
    entry->measured = entry->low = entry->high = printed;
    entry->basis = LAB_BY_TOLERANCE;
    entry->verdict = fabs(printed - is_right) <= 0.005 * is_right ? LAB_AGREES : LAB_DIFFERS;
    if (entry->verdict == LAB_DIFFERS && why[formula])
        snprintf(entry->remark, sizeof entry->remark, "%s", why[formula]);
}

static void judge_formulas(const lab_cell *cell, lab_entry *entry)
{
    enum formula formula = (enum formula)cell->row;
    lab_theory theory = right(formula, lab_eigen_urls(cell->settings));
    if (cell->column == AS_PRINTED)
        judge_printed(entry, formula, formula == BITS ? LAB_EIGEN_BITS : theory.mean / theory.asked);
    else if (formula == BITS)
        entry->theory = LAB_EIGEN_BITS;
    else
        lab_entry_count(entry, cell->numbers, theory, 1);
}

LAB_STUDY(eigen_formulas, "eigen-formulas", "The formulas as printed, and what they should say",
          "the eigenvalue paper, section 2.3",
          "A twentieth of the URLs is inserted, m/n = 32 and k = 3; from (4) on with a third more bits and d = 1. In "
          "the column 'as printed' the measured value is that of the paper's formula, and theory the right one.",
          "share, (3): bits per URL", formulas, formula_columns, .measure = measure_formulas, .judge = judge_formulas);
