/* Tables as CSV (RFC 4180). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/fill/figures.h"
#include "lab/report/report.h"

enum { DIGITS = 9, Z_DIGITS = 4 };

void lab_csv_name(FILE *to, const char *name)
{
    bool quoted = strpbrk(name, ",\"\n\r") != NULL;
    if (quoted)
        fputc('"', to);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', to);
        fputc(*name, to);
    }
    fputs(quoted ? "\"," : ",", to);
}

void lab_csv_real(FILE *to, double value)
{
    if (isfinite(value))
        fprintf(to, "%.*g", DIGITS, value);
    fputc(',', to);
}

bool lab_published_is_ratio(const lab_entry *entry)
{
    double printed = entry->printed ? strtod(entry->printed, NULL) : (double)NAN;
    return !isnan(entry->published) && !(fabs(entry->published - printed) <= 1e-12 * fabs(printed));
}

const char *lab_published_text(const lab_entry *entry, char *text, size_t room, int digits)
{
    text[0] = 0;
    if (isnan(entry->published))
        return text;
    if (lab_published_is_ratio(entry)) {
        snprintf(text, room, "%.*g", digits, entry->published);
        return text;
    }
    const char *point = strchr(entry->printed, '.');
    size_t whole = point ? (size_t)(point - entry->printed) + 1 : 0;
    snprintf(text, room, "%.*s", (int)(whole + strspn(entry->printed + whole, "0123456789")), entry->printed);
    return text;
}

static const char *basis_name(const lab_entry *entry)
{
    static const char *const names[LAB_BASES] = {"unjudged", "chance",         "tolerance",
                                                 "fitted",   "counterfactual", "repeated"};
    return entry->printed || entry->basis != LAB_NOT_JUDGED ? names[entry->basis] : "";
}

static const char *theory_sort_name(const lab_entry *entry)
{
    static const char *const names[] = {"derived", "bound", "planned"};
    return isnan(entry->theory) ? "" : names[entry->theory_sort];
}

void lab_csv_heads(FILE *to)
{
    fputs(LAB_FIGURES_HEAD "\n", to);
}

void lab_csv_table(FILE *to, const lab_table *table)
{
    char published[64];
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const lab_entry *entry = &table->entries[i];
        lab_csv_name(to, table->id);
        lab_csv_name(to, entry->row);
        lab_csv_name(to, entry->column);
        fprintf(to, "%s,", lab_published_text(entry, published, sizeof published, DIGITS));
        lab_csv_real(to, entry->theory);
        lab_csv_real(to, entry->measured);
        lab_csv_real(to, entry->low);
        lab_csv_real(to, entry->high);
        fprintf(to, "%llu,%s,", (unsigned long long)entry->runs, lab_verdict_name(entry->verdict));
        if (isfinite(entry->z))
            fprintf(to, "%.*g", Z_DIGITS, entry->z);
        fprintf(to, ",%s,%s\n", basis_name(entry), theory_sort_name(entry));
    }
}

void lab_csv_book(FILE *to, const lab_book *book)
{
    lab_csv_heads(to);
    for (size_t i = 0; i < book->count; i++)
        lab_csv_table(to, &book->tables[i]);
}

/* ---- the figures of a report ---- */

enum { EMPTY_AFTER_TEXT = 10, EMPTY_AFTER_NUMBER = 7, SENTENCE_ROOM = 2048 };

static void put_empty(FILE *to, int count)
{
    for (int i = 1; i < count; i++)
        fputc(',', to);
    fputc('\n', to);
}

/* A fact that is a text. */
static void put_text(FILE *to, const char *name, const char *text)
{
    lab_csv_name(to, LAB_ABOUT);
    lab_csv_name(to, name);
    lab_csv_name(to, text);
    put_empty(to, EMPTY_AFTER_TEXT);
}

static void put_number(FILE *to, const char *name, const char *column, double number)
{
    lab_csv_name(to, LAB_ABOUT);
    lab_csv_name(to, name);
    lab_csv_name(to, column);
    fputs(",,", to);
    lab_csv_real(to, number);
    put_empty(to, EMPTY_AFTER_NUMBER);
}

static void put_facts(FILE *to, const lab_book *book, const lab_origin *origin)
{
    lab_family_test test = lab_book_judge(book);
    lab_score score = lab_score_of(book);
    put_number(to, "urls", "", (double)book->settings.urls);
    put_number(to, "runs", "", (double)book->settings.runs);
    put_number(to, "seed", "", (double)book->settings.seed);
    put_number(to, "cells together", "", (double)test.cells);
    put_number(to, "largest z", "", test.largest);
    put_number(to, "accepted z", "", test.bound);
    put_number(to, "beyond", "", (double)test.beyond);
    put_number(to, "doubtful by chance", "", lab_doubtful_by_chance((double)score.bases[LAB_BY_CHANCE]));
    put_number(to, "duration", origin->continued ? "continued" : "", origin->seconds);
    put_text(to, "version", vidi_version());
    put_text(to, "commit", origin->commit);
    put_text(to, "command", origin->command);
    put_text(to, "processor", origin->processor);
    put_text(to, "cores", origin->cores);
    put_text(to, "memory", origin->memory);
    put_text(to, "system", origin->system);
    put_text(to, "compiler", origin->compiler);
    put_text(to, "libraries", origin->libraries);
}

static void put_claims(FILE *to, const lab_book *book)
{
    const lab_claim *claim;
    char sentence[SENTENCE_ROOM];
    for (size_t i = 0; (claim = lab_claim_at(i)); i++) {
        lab_csv_name(to, LAB_CLAIM);
        lab_csv_name(to, claim->id);
        lab_csv_name(to, claim->source);
        fprintf(to, ",,,,,,%s,,,\n", lab_holding_name(lab_report_judge(claim, book, sentence, sizeof sentence)));
    }
}

void lab_report_figures(FILE *to, const lab_book *book, const lab_origin *origin)
{
    lab_csv_book(to, book);
    put_facts(to, book, origin);
    put_claims(to, book);
}
