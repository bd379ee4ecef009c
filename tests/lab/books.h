/*
 * Made-up books, for claims: either whole tables of known studies, whose figures are set afterwards (book_of, book_set,
 * must_hold), or nothing but the figures that a claim asks for (made_book, judged).
 */
#ifndef TESTS_LAB_BOOKS_H
#define TESTS_LAB_BOOKS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/engine/study.h"
#include "support/check.h"

enum { BOOK_RUNS = 6, SENTENCE_ROOM = 2048 }; /* raw times of each cell; characters of a sentence */

/* Room for the raw numbers of a study, all NAN; does nothing for others than timed studies. */
static inline void book_add_raw(lab_book *book, const lab_study *study)
{
    if (!study || !study->timed)
        return;
    size_t cells = lab_study_rows(study) * lab_study_columns(study);
    lab_numbers *numbers = &book->numbers[book->study_count++];
    *numbers = (lab_numbers){.study = study, .settings = {.runs = BOOK_RUNS}};
    numbers->numbers = calloc(BOOK_RUNS * cells, sizeof *numbers->numbers);
    assert_non_null(numbers->numbers);
    for (size_t i = 0; i < BOOK_RUNS * cells; i++)
        numbers->numbers[i] = (double)NAN;
}

/* Raw times of a cell that scatter by `noise` of the value, each study and cell in a different way. */
static inline void book_set_raw(lab_book *book, const char *id, const char *row, const char *column, double value,
                                double noise)
{
    for (size_t i = 0; i < book->study_count; i++) {
        const lab_numbers *numbers = &book->numbers[i];
        size_t columns = lab_study_columns(numbers->study), cells = lab_study_rows(numbers->study) * columns;
        for (size_t cell = 0; cell < cells && strcmp(numbers->study->id, id) == 0; cell++)
            for (size_t run = 0; run < BOOK_RUNS; run++)
                if (strcmp(numbers->study->rows[cell / columns], row) == 0 &&
                    strcmp(numbers->study->columns[cell % columns], column) == 0)
                    numbers->numbers[run * cells + cell] = value * (1 + noise * sin((double)(1 + cell + 7 * run)));
    }
}

/* A book with empty tables of those studies and experiments; all figures are NAN. */
static inline lab_book book_of(const char *const *ids, size_t count)
{
    lab_book book = {.tables = calloc(count, sizeof *book.tables), .count = count, .settings = {.urls = 1000000}};
    book.numbers = calloc(count, sizeof *book.numbers);
    assert_non_null(book.tables);
    assert_non_null(book.numbers);
    for (size_t i = 0; i < count; i++) {
        const lab_study *study = lab_study_find(ids[i]);
        const lab_experiment *experiment = lab_experiment_find(ids[i]);
        lab_table *table = &book.tables[i];
        check(study || experiment, "there is no %s", ids[i]);
        table->id = ids[i];
        book_add_raw(&book, study);
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

/* Sets the measured value, give or take a thousandth, of one row or (NULL) of all, and of one column or of all. */
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
        entry->low = 0.999 * value;
        entry->high = 1.001 * value;
        book_set_raw(book, id, entry->row, entry->column, value, 0.01);
        changed++;
    }
    check(changed > 0, "%s has no cell %s, %s", id, row ? row : "*", column ? column : "*");
}

static inline const lab_claim *claim_of(const char *id)
{
    const lab_claim *claim;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        if (strcmp(claim->id, id) == 0)
            return claim;
    fail_msg("there is no claim %s", id);
    return NULL;
}

static inline void must_hold(const lab_book *book, const char *id, lab_holding wanted)
{
    char sentence[SENTENCE_ROOM] = "";
    lab_holding found = lab_claim_judged(claim_of(id), book, sentence, sizeof sentence);
    check(found == wanted, "%s: '%s', not '%s' (%s)", id, lab_holding_name(found), lab_holding_name(wanted), sentence);
    check(found == LAB_UNJUDGED || strpbrk(sentence, "0123456789"), "%s, %s: '%s'", id, lab_holding_name(found),
          sentence);
}

/* ---- books of some figures ---- */

/* A list of them ends with one that has no table. */
typedef struct made_figure {
    const char *table, *row, *column;
    double measured;
} made_figure;

enum { MADE_TABLES = 12, MADE_CELLS = 64 };

/* Tables are found by name, and then their cells: one column does for all. */
typedef struct made_book {
    lab_book book;
    lab_table tables[MADE_TABLES];
    lab_numbers numbers[MADE_TABLES];
    lab_entry entries[MADE_TABLES][MADE_CELLS];
    double noise; /* of raw times; 0: a hundredth */
} made_book;

static inline void made_clear(made_book *made)
{
    for (size_t i = 0; i < made->book.study_count; i++)
        lab_numbers_free(&made->numbers[i]);
    memset(made, 0, sizeof *made);
    made->book.tables = made->tables;
    made->book.numbers = made->numbers;
}

static inline lab_table *made_table(made_book *made, const char *id)
{
    for (size_t i = 0; i < made->book.count; i++)
        if (strcmp(made->tables[i].id, id) == 0)
            return &made->tables[i];
    size_t next = made->book.count++;
    check(next < MADE_TABLES, "more than %d tables", MADE_TABLES);
    book_add_raw(&made->book, lab_study_find(id));
    made->tables[next] =
        (lab_table){.id = id, .unit = "times the filter", .entries = made->entries[next], .columns = 1};
    return &made->tables[next];
}

/* The entry that it becomes, give or take a thousandth. */
static inline lab_entry *made_put(made_book *made, const made_figure *figure)
{
    lab_table *table = made_table(made, figure->table);
    check(table->rows < MADE_CELLS, "more than %d cells", MADE_CELLS);
    lab_entry *entry = &table->entries[table->rows++];
    *entry = (lab_entry){.row = figure->row,
                         .column = figure->column,
                         .measured = figure->measured,
                         .low = 0.999 * figure->measured,
                         .high = 1.001 * figure->measured + 1e-9,
                         .runs = 3};
    book_set_raw(&made->book, figure->table, figure->row, figure->column, figure->measured,
                 made->noise > 0 ? made->noise : 0.01);
    return entry;
}

/* What the claim says of a book with these figures. */
static inline lab_holding judged_with(uint64_t urls, const char *id, const made_figure *figures)
{
    static made_book made;
    char sentence[SENTENCE_ROOM] = "";
    made_clear(&made);
    made.book.settings.urls = urls;
    for (; figures->table; figures++)
        made_put(&made, figures);
    lab_holding holding = lab_claim_judged(claim_of(id), &made.book, sentence, sizeof sentence);
    check(holding == LAB_UNJUDGED || sentence[0], "%s: a verdict without a sentence", id);
    return holding;
}

static inline lab_holding judged(const char *id, const made_figure *figures)
{
    return judged_with(1000000, id, figures);
}

#endif
