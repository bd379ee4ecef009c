/* Reads the figures of a run from CSV. See figures.h. */
#include "lab/fill/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 13 };

/* ---- fields ---- */

typedef struct reader {
    const char *at, *end;
    char *to; /* where the next field is written */
    size_t line;
} reader;

/* Copies a quoted field without its quotes; a doubled quote becomes one. */
static int read_quoted(reader *reader)
{
    size_t line = reader->line;
    for (reader->at++; reader->at < reader->end; reader->at++) {
        if (*reader->at == '"' && ++reader->at < reader->end && *reader->at != '"')
            return VIDI_OK;
        if (reader->at == reader->end)
            break;
        reader->line += *reader->at == '\n';
        *reader->to++ = *reader->at;
    }
    return lab_fail(VIDI_EFORMAT, "line %zu: a quoted field does not end", line);
}

static int read_plain(reader *reader)
{
    for (; reader->at < reader->end && *reader->at != ',' && *reader->at != '\n'; reader->at++) {
        if (*reader->at == '"' || *reader->at == '\r' || *reader->at == 0)
            return lab_fail(VIDI_EFORMAT, "line %zu: a quote, carriage return or zero byte in a field", reader->line);
        *reader->to++ = *reader->at;
    }
    return VIDI_OK;
}

/* Reads one field and what ends it: a comma, or the line feed after the last one. */
static int read_field(reader *reader, bool last, const char **field)
{
    *field = reader->to;
    bool quoted = reader->at < reader->end && *reader->at == '"';
    LAB_TRY(quoted ? read_quoted(reader) : read_plain(reader));
    *reader->to++ = 0;
    if (reader->at == reader->end || *reader->at != (last ? '\n' : ','))
        return lab_fail(VIDI_EFORMAT, "line %zu does not have %d fields", reader->line, FIELDS);
    reader->at++;
    return VIDI_OK;
}

static int read_number(const reader *reader, const char *field, double *number)
{
    char *end;
    *number = NAN;
    if (!field[0])
        return VIDI_OK;
    *number = strtod(field, &end);
    if (*end || end == field || !strchr("-0123456789", field[0]) || !isfinite(*number))
        return lab_fail(VIDI_EFORMAT, "line %zu: '%.40s' is not a number", reader->line, field);
    return VIDI_OK;
}

static int read_record(reader *reader, lab_record *record)
{
    const char *fields[FIELDS];
    size_t line = reader->line;
    for (size_t i = 0; i < FIELDS; i++)
        LAB_TRY(read_field(reader, i == FIELDS - 1, &fields[i]));
    *record = (lab_record){.experiment = fields[0],
                           .row = fields[1],
                           .column = fields[2],
                           .published = fields[3],
                           .verdict = fields[9],
                           .basis = fields[11],
                           .theory_sort = fields[12],
                           .line = line};
    LAB_TRY(read_number(reader, fields[4], &record->theory));
    LAB_TRY(read_number(reader, fields[5], &record->measured));
    LAB_TRY(read_number(reader, fields[6], &record->low));
    LAB_TRY(read_number(reader, fields[7], &record->high));
    LAB_TRY(read_number(reader, fields[8], &record->runs));
    return read_number(reader, fields[10], &record->z);
}

/* ---- records ---- */

static int add_record(lab_figures *figures, const lab_record *record)
{
    LAB_TRY(lab_grow(&figures->records, figures->count + 1, &figures->room, sizeof *figures->records));
    figures->records[figures->count++] = *record;
    return VIDI_OK;
}

static int compare_names(const lab_record *a, const lab_record *b)
{
    int order = strcmp(a->experiment, b->experiment);
    order = order ? order : strcmp(a->row, b->row);
    return order ? order : strcmp(a->column, b->column);
}

/* By name, and then by place. */
static int compare_records(const void *a, const void *b)
{
    const lab_record *first = *(const lab_record *const *)a, *second = *(const lab_record *const *)b;
    int order = compare_names(first, second);
    return order ? order : (first > second) - (first < second);
}

/* Finds the first record whose name an earlier one has. In a sorted list they are neighbours. */
static int check_names(const lab_figures *figures)
{
    const lab_record *again = NULL, **sorted = malloc((figures->count + 1) * sizeof *sorted);
    if (!sorted)
        return lab_fail(VIDI_EMEMORY, "no memory for the figures");
    for (size_t i = 0; i < figures->count; i++)
        sorted[i] = &figures->records[i];
    qsort(sorted, figures->count, sizeof *sorted, compare_records);
    for (size_t i = 1; i < figures->count; i++)
        if (compare_names(sorted[i - 1], sorted[i]) == 0 && (!again || sorted[i] < again))
            again = sorted[i];
    free(sorted);
    return again ? lab_fail(VIDI_EFORMAT, "line %zu: %.60s, %.60s, %.60s was there before", again->line,
                            again->experiment, again->row, again->column)
                 : VIDI_OK;
}

const lab_record *lab_figures_find(const lab_figures *figures, const char *experiment, const char *row,
                                   const char *column)
{
    for (size_t i = 0; i < figures->count; i++) {
        const lab_record *record = &figures->records[i];
        if (strcmp(record->experiment, experiment) == 0 && strcmp(record->column, column) == 0 &&
            (record->any_row || strcmp(record->row, row) == 0))
            return record;
    }
    return NULL;
}

int lab_figures_read(lab_figures *figures, const char *text, size_t length)
{
    static const char head[] = LAB_FIGURES_HEAD "\n";
    *figures = (lab_figures){.count = 0};
    if (length < sizeof head - 1 || memcmp(text, head, sizeof head - 1) != 0)
        return lab_fail(VIDI_EFORMAT, "line 1 is not '" LAB_FIGURES_HEAD "'");
    figures->text = malloc(length + 1); /* a field never becomes longer: its zero byte replaces a comma or line feed */
    if (!figures->text)
        return lab_fail(VIDI_EMEMORY, "no memory for the figures");
    reader reader = {text + sizeof head - 1, text + length, figures->text, 2};
    for (; reader.at < reader.end; reader.line++) {
        lab_record record;
        LAB_TRY(read_record(&reader, &record));
        LAB_TRY(add_record(figures, &record));
    }
    return check_names(figures);
}

void lab_figures_free(lab_figures *figures)
{
    free(figures->records);
    free(figures->text);
    *figures = (lab_figures){.count = 0};
}

/* ---- names ---- */

/* The facts about a run that a text may refer to. */
static const char *const facts[] = {
    "urls",     "runs",      "seed",   "cells together", "largest z", "accepted z", "beyond", "doubtful by chance",
    "duration", "version",   "commit", "command",        "processor", "cores",      "memory", "system",
    "compiler", "libraries", NULL};

/* Without a row it stands for all rows. */
static int add_name(lab_figures *figures, const char *experiment, const char *row, const char *column)
{
    lab_record record = {experiment, row ? row : "any", column, "1", "", "", "", 1, 1, 1, 1, 1, 1, !row, 0};
    return add_record(figures, &record);
}

static int add_study(lab_figures *figures, const lab_study *study)
{
    for (size_t column = 0; study->columns[column]; column++) {
        if (study->streams)
            LAB_TRY(add_name(figures, study->id, NULL, study->columns[column]));
        for (size_t row = 0; study->rows[row] && !study->streams; row++)
            LAB_TRY(add_name(figures, study->id, study->rows[row], study->columns[column]));
    }
    return VIDI_OK;
}

int lab_figures_names(lab_figures *figures)
{
    const lab_experiment *experiment;
    const lab_study *study;
    const lab_claim *claim;
    *figures = (lab_figures){.count = 0};
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        for (const lab_line *row = experiment->rows; row->name; row++)
            for (const lab_line *column = experiment->columns; column->name; column++)
                LAB_TRY(add_name(figures, experiment->id, row->name, column->name));
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        LAB_TRY(add_study(figures, study));
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        LAB_TRY(add_name(figures, LAB_CLAIM, claim->id, claim->source));
    for (size_t i = 0; facts[i]; i++)
        LAB_TRY(add_name(figures, LAB_ABOUT, facts[i], ""));
    return VIDI_OK;
}
