/* Made-up books, for claims. */
#ifndef TESTS_LAB_BOOKS_H
#define TESTS_LAB_BOOKS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/study.h"
#include "support/check.h"

/* A book with empty tables of those studies and experiments; all figures are NAN. */
static inline lab_book book_of(const char *const *ids, size_t count)
{
    lab_book book = {.tables = calloc(count, sizeof *book.tables), .count = count, .settings = {.urls = 1000000}};
    assert_non_null(book.tables);
    for (size_t i = 0; i < count; i++) {
        const lab_study *study = lab_study_find(ids[i]);
        const lab_experiment *experiment = lab_experiment_find(ids[i]);
        lab_table *table = &book.tables[i];
        check(study || experiment, "there is no %s", ids[i]);
        table->id = ids[i];
        table->rows = study ? lab_study_rows(study) : lab_lines(experiment->rows);
        table->columns = study ? lab_study_columns(study) : lab_lines(experiment->columns);
        table->entries = calloc(table->rows * table->columns, sizeof *table->entries);
        assert_non_null(table->entries);
        for (size_t j = 0; j < table->rows * table->columns; j++) {
            size_t row = j / table->columns, column = j % table->columns;
            table->entries[j] = (lab_entry){.row = study ? study->rows[row] : experiment->rows[row].name,
                                            .column = study ? study->columns[column] : experiment->columns[column].name,
                                            .runs = 3,
                                            .measured = (double)NAN,
                                            .low = (double)NAN,
                                            .high = (double)NAN};
        }
    }
    return book;
}

/* Sets the measured value, give or take a hundredth, of one row or (NULL) of all, and of one column or of all. */
static inline void book_set(lab_book *book, const char *id, const char *row, const char *column, double value)
{
    const lab_table *table = lab_book_find(book, id);
    size_t changed = 0;
    check(table, "there is no table %s", id);
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        lab_entry *entry = &table->entries[i];
        if ((row && strcmp(entry->row, row) != 0) || (column && strcmp(entry->column, column) != 0))
            continue;
        entry->measured = value;
        entry->low = 0.99 * value;
        entry->high = 1.01 * value;
        changed++;
    }
    check(changed > 0, "%s has no cell %s, %s", id, row ? row : "*", column ? column : "*");
}

static inline void must_hold(const lab_claim *claims, const lab_book *book, const char *id, lab_holding wanted)
{
    char sentence[512] = "";
    while (claims->id && strcmp(claims->id, id) != 0)
        claims++;
    check(claims->id, "there is no claim %s", id);
    lab_holding found = claims->judge(book, sentence, sizeof sentence);
    check(found == wanted, "%s: '%s', not '%s' (%s)", id, lab_holding_name(found), lab_holding_name(wanted), sentence);
    check((found == LAB_UNJUDGED) == (strchr(sentence, '%') == NULL && strpbrk(sentence, "0123456789") == NULL),
          "%s, %s: '%s'", id, lab_holding_name(found), sentence);
}

#endif
