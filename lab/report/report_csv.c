/* Tables as CSV (RFC 4180). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/report/report.h"

enum { DIGITS = 9 };

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

void lab_csv_heads(FILE *to)
{
    fputs("experiment,row,column,published,theory,measured,low,high,runs,verdict\n", to);
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
        fprintf(to, "%llu,%s\n", (unsigned long long)entry->runs, lab_verdict_name(entry->verdict));
    }
}

void lab_csv_book(FILE *to, const lab_book *book)
{
    lab_csv_heads(to);
    for (size_t i = 0; i < book->count; i++)
        lab_csv_table(to, &book->tables[i]);
}
