/* Tables: the results of both sorts of experiments in one shape, and finding cells in them. See study.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/study.h"
#include "lab/judge/distributions.h"

static int make_entries(lab_table *table, size_t rows, size_t columns)
{
    table->rows = rows;
    table->columns = columns;
    table->entries = calloc(rows * columns + 1, sizeof *table->entries);
    return table->entries ? VIDI_OK : lab_fail(VIDI_EMEMORY, "no memory for the table of %s", table->id);
}

void lab_table_free(lab_table *table)
{
    free(table->entries);
    free(table->remarks);
    memset(table, 0, sizeof *table);
}

const lab_entry *lab_table_find(const lab_table *table, const char *row, const char *column)
{
    for (size_t i = 0; i < table->rows * table->columns; i++)
        if (strcmp(table->entries[i].row, row) == 0 && strcmp(table->entries[i].column, column) == 0)
            return &table->entries[i];
    return NULL;
}

/* ---- tables of studies ---- */

static void take_median(lab_entry *entry, double *numbers)
{
    size_t runs = (size_t)entry->runs;
    entry->measured = lab_median(numbers, runs);
    entry->low = numbers[0];
    entry->high = numbers[runs - 1];
}

static void take_mean(lab_entry *entry, const double *numbers)
{
    double runs = (double)entry->runs, sum = 0, squares = 0;
    for (uint64_t i = 0; i < entry->runs; i++)
        sum += numbers[i];
    entry->measured = sum / runs;
    for (uint64_t i = 0; i < entry->runs; i++)
        squares += (numbers[i] - entry->measured) * (numbers[i] - entry->measured);
    double spread = entry->runs > 1 ? LAB_INTERVAL_Z * sqrt(squares / (runs - 1) / runs) : 0;
    entry->low = entry->measured - spread;
    entry->high = entry->measured + spread;
}

static void judge_cell(lab_table *table, const lab_numbers *all, size_t row, size_t column, double *numbers)
{
    const lab_study *study = all->study;
    size_t cell = row * table->columns + column;
    lab_entry *entry = &table->entries[cell];
    *entry = (lab_entry){.row = study->rows[row],
                         .column = study->columns[column],
                         .published = NAN,
                         .theory = NAN,
                         .z = NAN,
                         .runs = all->settings.runs,
                         .verdict = LAB_NO_FIGURE};
    if (!lab_study_built(study)) {
        entry->measured = entry->low = entry->high = NAN;
        entry->verdict = LAB_NOT_BUILT;
        return;
    }
    for (uint64_t run = 0; run < entry->runs; run++)
        numbers[run] = all->numbers[run * table->rows * table->columns + cell];
    if (study->timed)
        take_median(entry, numbers);
    else
        take_mean(entry, numbers);
    if (study->judge)
        study->judge(&(lab_cell){study, &all->settings, row, column, numbers, all}, entry);
}

int lab_table_of_numbers(lab_table *table, const lab_numbers *all)
{
    const lab_study *study = all->study;
    *table = (lab_table){.id = study->id,
                         .title = study->title,
                         .source = study->source,
                         .note = study->note,
                         .unit = study->unit,
                         .plot = study->plot};
    LAB_TRY(make_entries(table, lab_study_rows(study), lab_study_columns(study)));
    double *numbers = calloc(all->settings.runs + 1, sizeof *numbers);
    if (!numbers)
        return lab_fail(VIDI_EMEMORY, "no memory for the table of %s", study->id);
    for (size_t row = 0; row < table->rows; row++)
        for (size_t column = 0; column < table->columns; column++)
            judge_cell(table, all, row, column, numbers);
    free(numbers);
    return VIDI_OK;
}

void lab_entry_sum(lab_entry *entry, double sum, lab_theory theory, double unit)
{
    lab_fit fit = lab_fit_of(sum, (double)entry->runs, theory);
    entry->theory = unit * theory.mean / theory.asked;
    entry->measured = unit * fit.share;
    entry->low = unit * fit.low;
    entry->high = unit * fit.high;
    entry->z = fit.z;
    if (!fit.fits) {
        entry->verdict = LAB_FAILS;
        snprintf(entry->remark, sizeof entry->remark, "our figure is %.1f standard deviations from theory",
                 fabs(fit.z));
    }
}

void lab_entry_count(lab_entry *entry, const double *numbers, lab_theory theory, double unit)
{
    double sum = 0;
    for (uint64_t i = 0; i < entry->runs; i++)
        sum += numbers[i];
    lab_entry_sum(entry, sum, theory, unit);
}

void lab_entry_scale(lab_entry *entry, double factor)
{
    entry->measured *= factor;
    entry->low *= factor;
    entry->high *= factor;
}

double lab_entry_spread(const lab_entry *entry)
{
    return (entry->high - entry->low) / 2 / LAB_INTERVAL_Z;
}

void lab_entry_published(lab_entry *entry, const lab_study *study, double tolerance)
{
    entry->printed = lab_published_find(lab_published_all, study->id, entry->row, entry->column);
    lab_figure figure = lab_figure_read(entry->printed);
    if (!figure.given)
        return;
    double held = isnan(entry->theory) ? entry->measured : entry->theory;
    entry->published = figure.percent;
    entry->basis = LAB_BY_TOLERANCE;
    if (entry->verdict != LAB_FAILS)
        entry->verdict =
            fabs(figure.percent - held) <= fabs(held) * tolerance + figure.half_unit ? LAB_AGREES : LAB_DIFFERS;
}

/* ---- tables of configurations ---- */

static void add_remark(FILE *remarks, const char *text)
{
    if (text[0])
        fprintf(remarks, "%s\n", text);
}

/* Remarks on the table as a whole: our fit to theory, and a published scatter that chance does not explain. */
static void add_tests(FILE *remarks, const lab_results *results, const lab_finding *findings, size_t first,
                      size_t count)
{
    char text[LAB_REMARK_ROOM];
    lab_table_test test = lab_judge_table(results, findings, first, count);
    lab_scatter scatter = lab_judge_scatter(findings, count);
    if (test.tested) {
        snprintf(text, sizeof text,
                 "Our figures against theory: chi-square %.1f for %zu cells (equivalent to %.1f independent cells), p "
                 "= %.3f%s",
                 test.chi_square, test.cells, test.freedom, test.p,
                 test.fits      ? ""
                 : test.p < 0.5 ? ", which is too good"
                                : ", which is too bad");
        add_remark(remarks, text);
    }
    if (!scatter.fits) {
        snprintf(
            text, sizeof text,
            "Published figures against theory: chi-square %.1f for %zu cells, the scatter of about %.0f independent "
            "runs and not of %d",
            scatter.chi_square, scatter.cells, scatter.runs, LAB_PUBLISHED_RUNS);
        add_remark(remarks, text);
    }
}

static void take_finding(lab_entry *entry, const lab_finding *finding)
{
    bool judged = finding->published.given && finding->verdict != LAB_NOT_BUILT;
    *entry = (lab_entry){.row = finding->row,
                         .column = finding->column,
                         .printed = finding->printed,
                         .published = finding->published.given ? finding->published.percent : (double)NAN,
                         .theory = finding->theory,
                         .measured = finding->measured,
                         .low = finding->low,
                         .high = finding->high,
                         .runs = finding->runs,
                         .z = finding->z,
                         .verdict = finding->verdict,
                         .basis = finding->repeated ? LAB_REPEATED
                                  : judged          ? LAB_BY_CHANCE
                                                    : LAB_NOT_JUDGED};
    lab_remark(finding, entry->remark, sizeof entry->remark);
}

int lab_table_of_findings(lab_table *table, const lab_results *results, const lab_finding *findings, size_t first,
                          size_t count)
{
    const lab_experiment *experiment = findings[0].experiment;
    size_t room = 0;
    *table = (lab_table){.id = "cell", .title = "", .source = "", .note = "", .unit = "%"};
    if (experiment) {
        table->id = experiment->id;
        table->title = experiment->title;
        table->source = experiment->source;
        table->note = experiment->note;
        table->plot = experiment->plot;
    }
    size_t columns = experiment ? lab_lines(experiment->columns) : 1;
    LAB_TRY(make_entries(table, count / columns, columns));
    for (size_t i = 0; i < count; i++)
        take_finding(&table->entries[i], &findings[i]);
    FILE *remarks = open_memstream(&table->remarks, &room);
    if (!remarks)
        return lab_fail(VIDI_EMEMORY, "no memory for the table of %s", table->id);
    add_tests(remarks, results, findings, first, count);
    return fclose(remarks) == 0 ? VIDI_OK : lab_fail(VIDI_EMEMORY, "no memory for the table of %s", table->id);
}

/* ---- finding ---- */

const lab_table *lab_book_find(const lab_book *book, const char *id)
{
    for (size_t i = 0; i < book->count; i++)
        if (strcmp(book->tables[i].id, id) == 0)
            return &book->tables[i];
    return NULL;
}

const lab_entry *lab_book_entry(const lab_book *book, const char *id, const char *row, const char *column)
{
    const lab_table *table = lab_book_find(book, id);
    const lab_entry *entry = table ? lab_table_find(table, row, column) : NULL;
    return entry && !isnan(entry->measured) ? entry : NULL;
}

double lab_book_measured(const lab_book *book, const char *id, const char *row, const char *column)
{
    const lab_entry *entry = lab_book_entry(book, id, row, column);
    return entry ? entry->measured : (double)NAN;
}
