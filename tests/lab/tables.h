/* Studies measured for a test, and books that are made up, for claims. */
#ifndef TESTS_LAB_TABLES_H
#define TESTS_LAB_TABLES_H

#include <string.h>

#include "lab/study.h"
#include "support/check.h"

/* A study's table, or the test fails. lab_table_free. */
static inline lab_table table_of(const char *id, const lab_settings *settings)
{
    lab_numbers numbers;
    lab_table table;
    const lab_study *study = lab_study_find(id);
    check(study != NULL, "there is no study %s", id);
    check(lab_study_measure(&numbers, study, settings) == 0, "%s: %s", id, vidi_message());
    check(lab_table_of_numbers(&table, &numbers) == 0, "%s: %s", id, vidi_message());
    lab_numbers_free(&numbers);
    return table;
}

static inline const lab_entry *entry_of(const lab_table *table, const char *row, const char *column)
{
    const lab_entry *entry = lab_table_find(table, row, column);
    check(entry != NULL, "%s has no cell %s, %s", table->id, row, column);
    return entry;
}

/* A figure of a book that is made up: a table of its own, since tables are found by name and then their cells. */
typedef struct made_figure {
    const char *table, *row, *column;
    double measured;
} made_figure;

static inline const lab_claim *claim_of(const char *id)
{
    const lab_claim *claim;
    for (size_t i = 0; (claim = lab_claim_at(i)); i++)
        if (strcmp(claim->id, id) == 0)
            return claim;
    fail_msg("there is no claim %s", id);
    return NULL;
}

enum { FIGURES_MAX = 64, TABLES_MAX = 8 };

/* What the claim says of a book with these figures, of which the last has no table. */
static inline lab_holding judged(const char *id, const made_figure *figures)
{
    static lab_entry entries[TABLES_MAX][FIGURES_MAX];
    lab_table tables[TABLES_MAX] = {{.id = NULL}};
    char sentence[512] = "";
    size_t count = 0;
    for (; figures->table; figures++) {
        size_t at = 0;
        while (at < count && strcmp(tables[at].id, figures->table) != 0)
            at++;
        if (at == count)
            tables[count++] = (lab_table){.id = figures->table, .entries = entries[at], .columns = 1};
        entries[at][tables[at].rows++] = (lab_entry){.row = figures->row,
                                                     .column = figures->column,
                                                     .measured = figures->measured,
                                                     .low = figures->measured,
                                                     .high = figures->measured};
    }
    lab_book book = {.tables = tables, .count = count};
    lab_holding holding = claim_of(id)->judge(&book, sentence, sizeof sentence);
    check((holding == LAB_UNJUDGED) == (sentence[0] == 0), "%s: a verdict without a sentence, or the reverse", id);
    return holding;
}

#endif
