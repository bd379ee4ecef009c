/* Tables as CSV (RFC 4180). */
#include <math.h>
#include <string.h>

#include "lab/report.h"

/* Quoted where it has to be. */
static void put_name(FILE *to, const char *name)
{
    bool quoted = strpbrk(name, ",\"\n\r") != NULL;
    if (quoted)
        fputc('"', to);
    for (; *name; name++) {
        if (*name == '"')
            fputc('"', to);
        fputc(*name, to);
    }
    if (quoted)
        fputc('"', to);
}

/* Nothing where there is no number. */
static void put_real(FILE *to, double value)
{
    if (!isnan(value))
        fprintf(to, "%.9g", value);
    fputc(',', to);
}

/* The number as it was printed, without what is not part of it. */
static void put_published(FILE *to, const lab_entry *entry)
{
    if (!isnan(entry->published) && entry->printed) {
        const char *point = strchr(entry->printed, '.');
        size_t whole = point ? (size_t)(point - entry->printed) + 1 : 0;
        fprintf(to, "%.*s", (int)(whole + strspn(entry->printed + whole, "0123456789")), entry->printed);
    }
    fputc(',', to);
}

void lab_csv_heads(FILE *to)
{
    fputs("experiment,row,column,published,theory,measured,low,high,runs,verdict\n", to);
}

void lab_csv_table(FILE *to, const lab_table *table)
{
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const lab_entry *entry = &table->entries[i];
        const char *const names[] = {table->id, entry->row, entry->column};
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            put_name(to, names[j]);
            fputc(',', to);
        }
        put_published(to, entry);
        put_real(to, entry->theory);
        put_real(to, entry->measured);
        put_real(to, entry->low);
        put_real(to, entry->high);
        fprintf(to, "%llu,%s\n", (unsigned long long)entry->runs, lab_verdict_name(entry->verdict));
    }
}
