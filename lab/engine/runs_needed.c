/*
 * How many runs a figure needs until its 95 % interval is narrow enough.
 *
 * Whoever stops as soon as the interval happens to be narrow stops at lucky moments, and the figures are biased. So the
 * number of runs is fixed ahead: for configurations by theory, for studies by their first ten runs (Stein's two
 * stages). It follows from the settings and the seed, whatever is measured beside it and by however many threads.
 *
 * A figure that is evidence for a claim needs more. Ratios are judged with 99 % intervals, many pairs at once, which
 * must be no wider than the claim's margin (judging.h): for 64 pairs, half of it is 3.9 * sqrt(2) standard deviations
 * of one figure, so the 95 % interval of that figure must be within a sixth of the margin.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/engine/study.h"
#include "lab/judge/distributions.h"

#define MARGIN_PARTS 6

static bool rests_on(const lab_claim *claim, const char *table)
{
    char id[LAB_ID_ROOM];
    for (const char *list = claim->evidence; lab_evidence_next(&list, id);)
        if (strcmp(id, table) == 0)
            return true;
    return false;
}

/* Claims without a margin compare figures whose difference nobody knows yet: they get the margin of a rate. */
double lab_precision_of(const char *table, double precision)
{
    const lab_claim *claim;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        if (rests_on(claim, table))
            precision = fmin(precision, (claim->margin > 0 ? claim->margin : LAB_RATE_MARGIN) / MARGIN_PARTS);
    return precision;
}

/* Runs for which an interval that extends by `half` after `runs` runs extends by no more than `most`. */
static double scaled_runs(double runs, double half, double most)
{
    return half > 0 ? ceil(runs * (half / most) * (half / most) * (1 - 1e-9)) : 0;
}

/* NAN becomes `most`. */
static uint64_t clamp(double runs, uint64_t least, uint64_t most)
{
    if (!(runs < (double)most))
        return most;
    return runs > (double)least ? (uint64_t)runs : least < most ? least : most;
}

const char *lab_runs_text(const lab_settings *settings, char text[LAB_RUNS_ROOM])
{
    bool some = settings->precision > 0 && settings->runs > LAB_FIRST_RUNS;
    snprintf(text, LAB_RUNS_ROOM, "%s%llu run%s", some ? "at most " : "", (unsigned long long)settings->runs,
             settings->runs == 1 ? "" : "s");
    return text;
}

/* ---- configurations ---- */

/* The finest precision of the tables that have this configuration, in all experiments: tables share their figures. */
static double config_precision(const lab_config *config, double precision)
{
    const lab_experiment *experiment;
    double finest = precision;
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++) {
        size_t columns = lab_lines(experiment->columns), cells = lab_lines(experiment->rows) * columns;
        bool has = false;
        for (size_t j = 0; j < cells && !has; j++) {
            lab_config cell = lab_cell_config(experiment, j / columns, j % columns);
            has = lab_config_same(&cell, config);
        }
        if (has)
            finest = fmin(finest, lab_precision_of(experiment->id, precision));
    }
    return finest;
}

/* There are at least as many runs as the chi-square of a table needs. */
uint64_t lab_config_runs(const lab_config *config, const lab_settings *settings)
{
    if (!(settings->precision > 0) || settings->runs <= LAB_TABLE_RUNS)
        return settings->runs;
    lab_theory theory = lab_theory_of(config, settings->urls);
    double half = LAB_INTERVAL_Z * sqrt(theory.variance);
    double runs = scaled_runs(1, half, theory.mean * config_precision(config, settings->precision));
    return clamp(runs, LAB_TABLE_RUNS, settings->runs);
}

/* ---- studies ---- */

/* Half of the 95 % interval of a mean, by Student's t: entries of timed studies have none. */
static double half_interval(const lab_numbers *first, size_t cell, size_t cells)
{
    double runs = (double)first->settings.runs, sum = 0, squares = 0;
    for (uint64_t run = 0; run < first->settings.runs; run++)
        sum += first->numbers[run * cells + cell];
    for (uint64_t run = 0; run < first->settings.runs; run++) {
        double off = first->numbers[run * cells + cell] - sum / runs;
        squares += off * off;
    }
    return lab_student_t(0.025, runs - 1) * sqrt(squares / (runs - 1) / runs);
}

static double entry_runs(const lab_numbers *first, const lab_table *table, size_t cell, double precision)
{
    const lab_entry *entry = &table->entries[cell];
    double runs = (double)first->settings.runs, half = (entry->high - entry->low) / 2, value = entry->measured;
    if (isnan(entry->measured))
        return 0;
    if (first->study->timed)
        half = half_interval(first, cell, table->rows * table->columns);
    else if (isnan(entry->theory))
        half *= lab_student_t(0.025, runs - 1) / LAB_INTERVAL_Z;
    else if (entry->theory_sort == LAB_DERIVED)
        value = entry->theory;
    return scaled_runs(runs, half, precision * fabs(value));
}

int lab_numbers_needed(const lab_numbers *first, uint64_t most, uint64_t *runs)
{
    double precision = lab_precision_of(first->study->id, first->settings.precision), needed = 0;
    lab_table table;
    int code = lab_table_of_numbers(&table, first);
    for (size_t i = 0; code == VIDI_OK && i < table.rows * table.columns; i++)
        needed = fmax(needed, entry_runs(first, &table, i, precision));
    lab_table_free(&table);
    *runs = clamp(needed, first->settings.runs, most);
    return code;
}
