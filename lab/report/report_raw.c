/*
 * The numbers of each run below a table: counts of URLs falsely seen, times, or whatever its study measures. One line
 * for each cell, so that names are not repeated for each run.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/html.h"
#include "lab/report/report.h"

enum { DIGITS = 7 };

/* Writes CSV: row,column,asked,numbers; the numbers of the runs are separated by spaces. */
static void put_line(FILE *to, const lab_entry *entry)
{
    lab_csv_name(to, entry->row);
    lab_csv_name(to, entry->column);
}

static void put_counts(FILE *to, const lab_book *book, const lab_table *table, size_t first)
{
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const lab_finding *finding = &book->findings[first + i];
        if (book->results.job_of[first + i] == LAB_NO_JOB)
            continue;
        put_line(to, &table->entries[i]);
        fprintf(to, "%.0f,", finding->expected.asked);
        for (uint64_t run = 0; run < finding->runs; run++)
            fprintf(to, "%s%llu", run ? " " : "", (unsigned long long)lab_count(&book->results, run, first + i));
        fputc('\n', to);
    }
}

static void put_numbers(FILE *to, const lab_numbers *numbers, const lab_table *table)
{
    size_t cells = table->rows * table->columns;
    for (size_t i = 0; i < cells; i++) {
        const char *between = "";
        if (!lab_entry_exists(&table->entries[i]))
            continue;
        put_line(to, &table->entries[i]);
        fputc(',', to);
        for (uint64_t run = 0; run < numbers->settings.runs; run++) {
            double number = numbers->numbers[run * cells + i];
            if (isnan(number))
                continue;
            fprintf(to, "%s%.*g", between, DIGITS, number);
            between = " ";
        }
        fputc('\n', to);
    }
}

/* Writes the lines of the table; false if the book has no numbers of it. */
static bool put_lines(FILE *to, const lab_book *book, const lab_table *table)
{
    for (size_t i = 0; i < book->finding_count; i++)
        if (book->findings[i].experiment && strcmp(book->findings[i].experiment->id, table->id) == 0) {
            put_counts(to, book, table, i);
            return true;
        }
    for (size_t i = 0; i < book->study_count && book->numbers; i++)
        if (strcmp(book->numbers[i].study->id, table->id) == 0) {
            put_numbers(to, &book->numbers[i], table);
            return true;
        }
    return false;
}

void lab_report_raw(FILE *to, const lab_book *book, const lab_table *table)
{
    char *text = NULL;
    size_t length = 0;
    FILE *csv = open_memstream(&text, &length);
    bool any = csv && put_lines(csv, book, table);
    if (csv && fclose(csv) == 0 && any) {
        fputs("<details><summary>Every run, as CSV</summary><pre tabindex=\"0\">row,column,asked,numbers of the runs\n",
              to);
        lab_html_text(to, text);
        fputs("</pre></details>\n", to);
    }
    free(text);
}
