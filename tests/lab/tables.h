/* Studies measured for a test, and their cells. */
#ifndef TESTS_LAB_TABLES_H
#define TESTS_LAB_TABLES_H

#include "lab/engine/study.h"
#include "support/check.h"

static inline const lab_study *study_of(const char *id)
{
    const lab_study *study = lab_study_find(id);
    check(study != NULL, "there is no study %s", id);
    return study;
}

static inline size_t cells_of(const lab_study *study)
{
    return lab_study_rows(study) * lab_study_columns(study);
}

/* A study's numbers, or the test fails. lab_numbers_free. */
static inline lab_numbers numbers_of(const char *id, const lab_settings *settings)
{
    lab_numbers numbers;
    check(lab_study_measure(&numbers, study_of(id), settings) == 0, "%s: %s", id, vidi_message());
    return numbers;
}

/* Their table. lab_table_free. */
static inline lab_table table_from(const lab_numbers *numbers)
{
    lab_table table;
    check(lab_table_of_numbers(&table, numbers) == 0, "%s: %s", numbers->study->id, vidi_message());
    return table;
}

static inline lab_table table_of(const char *id, const lab_settings *settings)
{
    lab_numbers numbers = numbers_of(id, settings);
    lab_table table = table_from(&numbers);
    lab_numbers_free(&numbers);
    return table;
}

static inline const lab_entry *entry_of(const lab_table *table, const char *row, const char *column)
{
    const lab_entry *entry = lab_table_find(table, row, column);
    check(entry != NULL, "%s has no cell %s, %s", table->id, row, column);
    return entry;
}

static inline void none_fails(const lab_table *table)
{
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const lab_entry *entry = &table->entries[i];
        check(entry->verdict != LAB_FAILS, "%s, %s, %s: theory %g, measured %g, z = %.1f. %s", table->id, entry->row,
              entry->column, entry->theory, entry->measured, entry->z, entry->remark);
    }
}

#endif
