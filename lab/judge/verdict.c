/*
 * The verdicts: our figure and the published one, each compared with theory, and a table as a whole.
 *
 * A count with an expectation below LAB_FEW is judged with the exact Poisson distribution, a larger one by its standard
 * deviation. Both give a z: the number of standard deviations at which a normal variable is equally improbable.
 *
 * A published figure is a count as well, of 100 runs with 1,000,000 URLs each, up to its rounding. It is compared with
 * theory for those numbers, whatever was measured here. Some published tables scatter more than 100 independent runs
 * would, so a figure is judged by the scatter of the others in its table.
 */
#include "lab/judge/verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/judge/distributions.h"

#define INTERVAL_TAIL 0.025
#define TABLE_LEAST 20 /* cells with smaller expected counts are left out of a table's chi-square */

const char *lab_verdict_name(lab_verdict verdict)
{
    static const char *const names[] = {"measured", "agrees",  "dependent", "doubtful", "anomalous",
                                        "misprint", "differs", "not built", "fails"};
    return names[verdict];
}

/* The distance, as z, of a count between low and high from its expectation; 0 if the count may equal it. */
static double distance(double low, double high, double mean, double variance)
{
    if (mean >= LAB_FEW)
        return low > mean ? (low - mean) / sqrt(variance) : high < mean ? (high - mean) / sqrt(variance) : 0;
    double above = lab_poisson_above(mean, ceil(low - 1e-9)), below = lab_poisson_below(mean, floor(high + 1e-9));
    return above < 0.5 ? -lab_normal_z(above) : below < 0.5 ? lab_normal_z(below) : 0;
}

lab_fit lab_fit_of(double count, double runs, lab_theory theory)
{
    double all = theory.asked * runs, spread = LAB_INTERVAL_Z * sqrt(runs * theory.variance);
    bool few = runs * theory.mean < LAB_FEW;
    if (!(all > 0))
        return (lab_fit){.fits = true};
    lab_fit fit = {
        .share = count / all,
        .low = (few ? lab_poisson_low(count, INTERVAL_TAIL) : fmax(0, count - spread)) / all,
        .high = fmin(1, (few ? lab_poisson_high(count, INTERVAL_TAIL) : count + spread) / all),
        .z = distance(count, count, runs * theory.mean, runs * theory.variance),
    };
    fit.fits = fabs(fit.z) <= LAB_Z_MOST;
    return fit;
}

/*
 * With hash functions that have no salts, runs differ only in their URLs. A corpus is finite, so runs share URLs and
 * are not independent. How dependent they are is unknown. We allow for the worst case, in which all runs are the same
 * and the variance of the sum grows by another factor of `runs`.
 */
static lab_theory with_shared_urls(const lab_results *results, const lab_config *config, double runs, lab_theory theory)
{
    if (results->settings.corpus && lab_functions_unsalted(config->functions))
        theory.variance *= runs;
    return theory;
}

static void judge_ours(lab_finding *finding, lab_theory theory)
{
    lab_fit fit = lab_fit_of((double)finding->count, (double)finding->runs, theory);
    finding->theory = 100 * theory.mean / theory.asked;
    finding->measured = 100 * fit.share;
    finding->low = 100 * fit.low;
    finding->high = 100 * fit.high;
    finding->z = fit.z;
    finding->fits = fit.fits;
}

/*
 * Whether the thesis gave the hash functions no salts: combinations of different functions, and single functions. Then
 * its runs differ only in their URLs, and may depend on one another.
 */
static bool lacks_salts(const lab_config *config)
{
    return strchr(config->functions, '+') || (config->k == 1 && config->members == 1 && config->epochs == 1);
}

static lab_verdict verdict_of(const lab_finding *finding)
{
    double judged = fabs(finding->judged_z);
    if (!finding->published.given)
        return LAB_NO_FIGURE;
    if (judged > LAB_Z_DOUBTFUL)
        return judged > LAB_Z_MOST ? LAB_ANOMALOUS : LAB_DOUBTFUL;
    return fabs(finding->published_z) > LAB_Z_DOUBTFUL && lacks_salts(&finding->config) ? LAB_DEPENDENT : LAB_AGREES;
}

/* Alone, without a table, a figure is judged as the result of 100 independent runs. */
static lab_verdict judge_published(lab_finding *finding)
{
    if (!finding->published.given)
        return LAB_NO_FIGURE;
    lab_theory theory = lab_theory_of(&finding->config, LAB_PUBLISHED_URLS);
    double runs = LAB_PUBLISHED_RUNS, scale = runs * theory.asked / 100;
    double low = scale * (finding->published.percent - finding->published.half_unit);
    double high = scale * (finding->published.percent + finding->published.half_unit);
    finding->published_z = distance(low, high, runs * theory.mean, runs * theory.variance);
    finding->judged_z = finding->published_z;
    finding->judged_runs = runs;
    return verdict_of(finding);
}

static void set_not_built(lab_finding *finding)
{
    finding->verdict = LAB_NOT_BUILT;
    finding->runs = 0;
    finding->measured = finding->low = finding->high = finding->z = NAN;
    finding->fits = true;
}

lab_finding lab_judge(const lab_config *config, const lab_results *results, size_t cell, const char *printed)
{
    lab_finding finding = {
        .config = *config,
        .printed = printed,
        .published = lab_figure_read(printed),
        .runs = lab_cell_runs(results, cell),
        .count = lab_total(results, cell),
    };
    finding.expected =
        with_shared_urls(results, config, (double)finding.runs, lab_theory_of(config, results->settings.urls));
    judge_ours(&finding, finding.expected);
    finding.verdict = judge_published(&finding);
    if (!finding.fits)
        finding.verdict = LAB_FAILS;
    if (results->job_of[cell] == LAB_NO_JOB)
        set_not_built(&finding);
    return finding;
}

/* The figure that an earlier table has for the same configuration; NULL if there is none. */
static const char *original(const lab_experiment *overview, const lab_config *config, const lab_published *list)
{
    const lab_experiment *experiment;
    for (size_t i = 0; (experiment = lab_experiment_at(i)) && experiment != overview; i++)
        for (size_t row = 0; row < lab_lines(experiment->rows); row++)
            for (size_t column = 0; column < lab_lines(experiment->columns); column++) {
                lab_config other = lab_cell_config(experiment, row, column);
                if (!experiment->repeats && lab_config_same(&other, config))
                    return lab_published_find(list, experiment->id, experiment->rows[row].name,
                                              experiment->columns[column].name);
            }
    return NULL;
}

lab_finding lab_judge_cell(const lab_experiment *experiment, size_t row, size_t column, const lab_results *results,
                           size_t cell, const lab_published *list)
{
    const char *row_name = experiment->rows[row].name, *column_name = experiment->columns[column].name;
    lab_config config = lab_cell_config(experiment, row, column);
    const char *printed = lab_published_find(list, experiment->id, row_name, column_name);
    lab_finding finding = lab_judge(&config, results, cell, printed);
    finding.experiment = experiment;
    finding.row = row_name;
    finding.column = column_name;
    finding.original = printed && experiment->repeats ? original(experiment, &config, list) : NULL;
    if (finding.original && strcmp(finding.original, printed) != 0 && finding.fits && finding.runs > 0)
        finding.verdict = LAB_MISPRINT;
    return finding;
}

/* Writes the distance of the published figure, and for which number of runs. */
static void put_distance(const lab_finding *finding, const char *conclusion, char *text, size_t room)
{
    const char *more = finding->published_z > 0 ? "more" : "less";
    double raw = fabs(finding->published_z), judged = fabs(finding->judged_z);
    if (finding->judged_runs < LAB_PUBLISHED_RUNS)
        snprintf(text, room,
                 "%.1f standard deviations %s than theory for 100 independent runs; the table's other figures scatter "
                 "like %.2g runs, for which it is %.1f%s",
                 raw, more, finding->judged_runs, judged, conclusion);
    else
        snprintf(text, room, "%.1f standard deviations %s than theory for 100 independent runs%s", raw, more,
                 conclusion);
}

void lab_remark(const lab_finding *finding, char *text, size_t room)
{
    text[0] = 0;
    if (!finding->fits)
        snprintf(text, room, "our figure is %.1f standard deviations from theory", fabs(finding->z));
    else if (finding->verdict == LAB_MISPRINT)
        snprintf(text, room, "the table that this one repeats has %s", finding->original);
    else if (finding->verdict == LAB_DEPENDENT)
        put_distance(finding, "; without salts, runs differ only in their URLs", text, room);
    else if (finding->verdict == LAB_DOUBTFUL || finding->verdict == LAB_ANOMALOUS ||
             (finding->verdict == LAB_AGREES && fabs(finding->published_z) > LAB_Z_DOUBTFUL))
        put_distance(finding, "", text, room);
    else if (finding->published.misspelt)
        snprintf(text, room, "printed as '%s'", finding->printed);
}

/* ---- the published figures of a table ---- */

static bool scatters(const lab_finding *finding)
{
    return finding->published.given && finding->verdict != LAB_MISPRINT;
}

/*
 * The z of a figure if its variance is estimated from `others` more figures, whose z^2 have this mean: Student's t, as
 * the z at which a normal variable is equally improbable. The variance is never less than that of 100 runs.
 */
static double judged_by_others(double z, double mean_square, size_t others)
{
    if (mean_square <= 1)
        return z;
    double t = fabs(z) / sqrt(mean_square);
    return copysign(-lab_normal_z(lab_student_above(t, (double)others)), z);
}

void lab_rejudge_by_scatter(lab_finding *findings, size_t count)
{
    const size_t fewest = 3; /* others; fewer say too little about their scatter */
    double squares = 0;
    size_t figures = 0;
    for (size_t i = 0; i < count; i++)
        if (scatters(&findings[i])) {
            squares += findings[i].published_z * findings[i].published_z;
            figures++;
        }
    for (size_t i = 0; i < count && figures > fewest; i++) {
        lab_finding *finding = &findings[i];
        if (!scatters(finding))
            continue;
        double own = finding->published_z * finding->published_z, mean = (squares - own) / (double)(figures - 1);
        finding->judged_z = judged_by_others(finding->published_z, mean, figures - 1);
        finding->judged_runs = LAB_PUBLISHED_RUNS / fmax(1, mean);
        if (finding->verdict != LAB_FAILS && finding->verdict != LAB_NOT_BUILT)
            finding->verdict = verdict_of(finding);
    }
}

double lab_doubtful_by_chance(double figures)
{
    return figures * (erfc(LAB_Z_DOUBTFUL / sqrt(2)) - erfc(LAB_Z_MOST / sqrt(2)));
}

/* ---- our figures of a table ---- */

static double mean_of(const lab_results *results, size_t cell, uint64_t runs)
{
    double sum = 0;
    for (uint64_t run = 0; run < runs; run++)
        sum += (double)lab_count(results, run, cell);
    return sum / (double)runs;
}

/*
 * The squared correlation of two cells' sums, minus what chance alone would give: estimated from the runs that they
 * have in common, which are all runs of the one and a part of the other's.
 */
static double correlation_squared(const lab_results *results, size_t a, size_t b)
{
    uint64_t runs_a = lab_cell_runs(results, a), runs_b = lab_cell_runs(results, b);
    uint64_t common = runs_a < runs_b ? runs_a : runs_b, most = runs_a < runs_b ? runs_b : runs_a;
    double mean_a = mean_of(results, a, common), mean_b = mean_of(results, b, common), aa = 0, bb = 0, ab = 0;
    for (uint64_t run = 0; run < common; run++) {
        double x = (double)lab_count(results, run, a) - mean_a, y = (double)lab_count(results, run, b) - mean_b;
        aa += x * x;
        bb += y * y;
        ab += x * y;
    }
    if (!(aa > 0) || !(bb > 0))
        return 0;
    double chance = 1 / ((double)common - 1);
    return (ab * ab / (aa * bb) - chance) / (1 - chance) * (double)common / (double)most;
}

static bool takes_part(const lab_finding *finding)
{
    return finding->expected.mean * (double)finding->runs >= TABLE_LEAST;
}

/*
 * Tests the sum of z^2 over the cells. The z are correlated, because the filters of a table share salts, and hashes
 * that collide modulo 12,000,000 also collide modulo 6,000,000. So the sum is approximately a scaled chi-square with
 * fewer degrees of freedom (Satterthwaite): cells^2 / sum of all squared correlations, which are estimated from the
 * runs.
 */
lab_table_test lab_judge_table(const lab_results *results, const lab_finding *findings, size_t first, size_t count)
{
    lab_table_test test = {.fits = true};
    double correlations = 0;
    for (size_t i = 0; i < count; i++) {
        if (!takes_part(&findings[i]))
            continue;
        lab_theory theory = findings[i].expected;
        double runs = (double)findings[i].runs, off = (double)findings[i].count - runs * theory.mean;
        test.chi_square += off * off / (runs * theory.variance);
        test.cells++;
        correlations += 1;
        for (size_t j = 0; j < i && findings[i].runs >= LAB_TABLE_RUNS; j++)
            if (takes_part(&findings[j]))
                correlations += 2 * correlation_squared(results, first + i, first + j);
    }
    test.tested = results->settings.runs >= LAB_TABLE_RUNS && test.cells > 1;
    if (!test.tested)
        return test;
    double cells = (double)test.cells;
    test.freedom = fmin(cells, cells * cells / fmax(correlations, cells / 2));
    test.p = lab_gamma_below(test.freedom / 2, test.chi_square * test.freedom / cells / 2);
    test.fits = test.p >= LAB_TABLE_ALPHA && test.p <= 1 - LAB_TABLE_ALPHA;
    return test;
}

/* A figure that agrees within its rounding adds nothing, so the sum is rather too small than too large. */
lab_scatter lab_judge_scatter(const lab_finding *findings, size_t count)
{
    lab_scatter scatter = {.fits = true, .p = 1};
    for (size_t i = 0; i < count; i++)
        if (findings[i].published.given) {
            scatter.chi_square += findings[i].published_z * findings[i].published_z;
            scatter.cells++;
        }
    if (scatter.cells < 2)
        return scatter;
    double cells = (double)scatter.cells;
    scatter.p = 1 - lab_gamma_below(cells / 2, scatter.chi_square / 2);
    scatter.runs = LAB_PUBLISHED_RUNS * fmin(1, cells / fmax(scatter.chi_square, 1e-9));
    scatter.fits = scatter.p >= LAB_TABLE_ALPHA;
    return scatter;
}

/* ---- all cells together ---- */

static int by_distance(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x < y) - (x > y);
}

/* The |z| that one of `cells` sound cells exceeds with a probability of at most LAB_FAMILY_ALPHA. */
static double family_bound(size_t cells)
{
    return -lab_normal_z(LAB_FAMILY_ALPHA / 2 / (double)cells);
}

lab_family_test lab_judge_family(double *z, size_t count)
{
    lab_family_test test = {.cells = count};
    if (count == 0)
        return test;
    qsort(z, count, sizeof *z, by_distance);
    test.largest = fabs(z[0]);
    test.bound = family_bound(count);
    while (test.beyond < count && fabs(z[test.beyond]) > family_bound(count - test.beyond))
        test.beyond++;
    return test;
}
