/*
 * The lab's findings as tables for people, CSV, JSON, and raw counts. Rates are in per cent, as published.
 */
#include "lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lab_config_text(const lab_config *config, char *text, size_t room)
{
    snprintf(text, room, "%s%s%s, k = %u, M = %g, %u filter%s, %u crawl%s, %sincremental%s%s", config->functions,
             config->kind ? ", " : "", config->kind ? config->kind : "", config->k, config->multiplier, config->members,
             config->members == 1 ? "" : "s", config->epochs, config->epochs == 1 ? "" : "s",
             config->incremental ? "" : "non-", config->shuffled ? ", other order" : "",
             config->deletes ? ", after deleting" : "");
    return text;
}

/*
 * The published number as it was printed, without what is not part of it; empty: nothing. Where it is not what was printed,
 * but a ratio of two that were, it is written here.
 */
static const char *published_text(const lab_entry *entry, char *text, size_t room)
{
    text[0] = 0;
    if (isnan(entry->published))
        return text;
    double printed = entry->printed ? strtod(entry->printed, NULL) : (double)NAN;
    if (!entry->printed || !(fabs(entry->published - printed) <= 1e-12 * fabs(printed))) {
        snprintf(text, room, "%.4g", entry->published);
        return text;
    }
    const char *point = strchr(entry->printed, '.');
    size_t whole = point ? (size_t)(point - entry->printed) + 1 : 0;
    snprintf(text, room, "%.*s", (int)(whole + strspn(entry->printed + whole, "0123456789")), entry->printed);
    return text;
}

/* Nothing where there is no number. */
static void put_real(cli_out *out, double value)
{
    if (!isnan(value))
        cli_out_format(out, "%.9g", value);
    cli_out_text(out, ",");
}

/* RFC 4180: quoted where it has to be. */
static void put_name(cli_out *out, const char *name)
{
    const char *quote = strpbrk(name, ",\"") ? "\"" : "";
    cli_out_text(out, quote);
    for (; *name; name++)
        cli_out_bytes(out, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    cli_out_text(out, quote);
    cli_out_text(out, ",");
}

static void print_csv(cli_out *out, const lab_book *book)
{
    char published[32];
    cli_out_text(out, "experiment,row,column,published,theory,measured,low,high,runs,verdict\n");
    for (size_t i = 0; i < book->count; i++) {
        const lab_table *table = &book->tables[i];
        for (size_t j = 0; j < table->rows * table->columns; j++) {
            const lab_entry *entry = &table->entries[j];
            cli_out_format(out, "%s,", table->id);
            put_name(out, entry->row);
            put_name(out, entry->column);
            cli_out_format(out, "%s,", published_text(entry, published, sizeof published));
            put_real(out, entry->theory);
            put_real(out, entry->measured);
            put_real(out, entry->low);
            put_real(out, entry->high);
            cli_out_format(out, "%llu,%s\n", (unsigned long long)entry->runs, lab_verdict_name(entry->verdict));
        }
    }
}

/* What URLs the numbers come from. */
static void put_corpus(cli_json *json, const lab_corpus *corpus)
{
    const char *file;
    if (!corpus) {
        cli_json_string(json, "corpus", "made up");
        return;
    }
    cli_json_open(json, "corpus", '{');
    cli_json_open(json, "files", '[');
    for (size_t i = 0; (file = lab_corpus_file(corpus, i)); i++)
        cli_json_string(json, NULL, file);
    cli_json_close(json, ']');
    cli_json_count(json, "urls", lab_corpus_count(corpus));
    cli_json_close(json, '}');
}

static void print_object(cli_out *out, const lab_book *book, const lab_table *table, const lab_entry *entry)
{
    cli_json json = {out, false};
    cli_json_open(&json, NULL, '{');
    cli_json_string(&json, "experiment", table->id);
    cli_json_string(&json, "row", entry->row);
    cli_json_string(&json, "column", entry->column);
    cli_json_real(&json, "published", entry->published);
    cli_json_real(&json, "theory", entry->theory);
    cli_json_real(&json, "measured", entry->measured);
    cli_json_real(&json, "low", entry->low);
    cli_json_real(&json, "high", entry->high);
    cli_json_string(&json, "unit", table->unit);
    cli_json_count(&json, "runs", entry->runs);
    cli_json_string(&json, "verdict", lab_verdict_name(entry->verdict));
    cli_json_real(&json, "z", entry->z);
    cli_json_string(&json, "remark", entry->remark);
    cli_json_count(&json, "urls", book->settings.urls);
    cli_json_count(&json, "seed", book->settings.seed);
    put_corpus(&json, book->settings.corpus);
    cli_json_close(&json, '}');
}

static void print_json(cli_out *out, const lab_book *book)
{
    const char *before = "[\n";
    for (size_t i = 0; i < book->count; i++)
        for (size_t j = 0; j < book->tables[i].rows * book->tables[i].columns; j++) {
            cli_out_text(out, before);
            print_object(out, book, &book->tables[i], &book->tables[i].entries[j]);
            before = ",\n";
        }
    cli_out_text(out, "\n]\n");
}

/* One run of one cell: with its key, kind and params anybody can count again. */
static void print_raw_line(cli_out *out, const lab_book *book, size_t cell, uint64_t run)
{
    const lab_results *results = &book->results;
    const lab_finding *finding = &book->findings[cell];
    size_t job = results->job_of[cell];
    unsigned char key[VIDI_KEY_BYTES];
    char params[256];
    const char *kind = lab_config_set(&finding->config, params, sizeof params);
    cli_out_format(out, "%s,%s,%s,%llu,%.0f,%llu,", finding->experiment ? finding->experiment->id : "cell",
                   finding->row, finding->column, (unsigned long long)run + 1, finding->expected.asked,
                   (unsigned long long)lab_count(results, run, cell));
    lab_key(key, results->settings.seed, run);
    for (unsigned i = 0; i < sizeof key; i++)
        cli_out_format(out, "%02x", key[i]);
    cli_out_format(out, ",%s,\"%s\",%u,", kind, params, finding->config.epochs);
    for (unsigned i = 0; i < results->filters_of[job]; i++) {
        size_t index = results->filter_of[job * LAB_FILTERS_MAX + i].index;
        cli_out_format(out, "%s%llu", i ? "+" : "",
                       (unsigned long long)results->marked[run * results->filters + index]);
    }
    cli_out_text(out, "\n");
}

/* A number of a study: it is a count, a time or a ratio, and has no set of its own. */
static void print_raw_numbers(cli_out *out, const lab_numbers *numbers)
{
    const lab_study *study = numbers->study;
    size_t columns = lab_study_columns(study), cells = lab_study_rows(study) * columns;
    for (size_t cell = 0; cell < cells; cell++)
        for (uint64_t run = 0; run < numbers->settings.runs; run++) {
            cli_out_format(out, "%s,", study->id);
            put_name(out, study->rows[cell / columns]);
            put_name(out, study->columns[cell % columns]);
            cli_out_format(out, "%llu,,", (unsigned long long)run + 1);
            put_real(out, numbers->numbers[run * cells + cell]);
            cli_out_text(out, ",,,,\n");
        }
}

static void print_raw(cli_out *out, const lab_book *book)
{
    cli_out_text(out, "experiment,row,column,run,asked,count,key,kind,params,epochs,marked\n");
    for (size_t i = 0; i < book->finding_count; i++)
        for (uint64_t run = 0; run < book->findings[i].runs; run++)
            print_raw_line(out, book, i, run);
    for (size_t i = 0; i < book->study_count; i++)
        print_raw_numbers(out, &book->numbers[i]);
}

/* A rate in per cent with as many digits as tell something; anything else with four. */
static void add_real(cli_table *table, const char *unit, double value)
{
    if (isnan(value))
        cli_table_cell(table, "%s", "");
    else if (strcmp(unit, "%") == 0)
        cli_table_cell(table, "%.*f", value >= 1 ? 4 : value >= 0.01 ? 5 : 7, value);
    else
        cli_table_cell(table, fabs(value) >= 1000 ? "%.0f" : "%.4g", value);
}

static void add_row(cli_table *table, const char *unit, const lab_entry *entry)
{
    char published[32];
    cli_table_cell(table, "%s", entry->row);
    cli_table_cell(table, "%s", entry->column);
    cli_table_cell(table, "%s", published_text(entry, published, sizeof published));
    add_real(table, unit, entry->theory);
    add_real(table, unit, entry->measured);
    add_real(table, unit, entry->low);
    add_real(table, unit, entry->high);
    cli_table_cell(table, isnan(entry->z) ? "" : "%+.1f", entry->z);
    cli_table_cell(table, "%s", lab_verdict_name(entry->verdict));
}

static int print_table(cli_out *out, const lab_table *from)
{
    static const char *const heads[] = {"row", "column", "published", "theory", "measured",
                                        "low", "high",   "z",         "verdict"};
    cli_table table = {.layout = "llrrrrrrl"};
    if (from->title[0])
        cli_out_format(out, "%s: %s (%s). In %s. %s\n\n", from->id, from->title, from->source, from->unit, from->note);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        cli_table_cell(&table, "%s", heads[i]);
    for (size_t i = 0; i < from->rows * from->columns; i++)
        if (!isnan(from->entries[i].measured) || from->entries[i].verdict == LAB_NOT_BUILT)
            add_row(&table, from->unit, &from->entries[i]);
    int status = cli_table_print(&table, out);
    cli_out_format(out, "\n%s", from->remarks ? from->remarks : "");
    for (size_t i = 0; i < from->rows * from->columns; i++)
        if (from->entries[i].remark[0])
            cli_out_format(out, "  %s, %s: %s.\n", from->entries[i].row, from->entries[i].column,
                           from->entries[i].remark);
    cli_out_text(out, "\n");
    return status;
}

/* The published figures' verdicts: `verdicts` has how many there are of each. */
static void print_published(cli_out *out, const size_t *verdicts)
{
    size_t published = 0;
    for (size_t i = LAB_AGREES; i <= LAB_DIFFERS; i++)
        published += verdicts[i];
    if (published)
        cli_out_format(out,
                       " Published figures: %zu agree, %zu agree only if runs were not independent, %zu anomalous, %zu "
                       "misprinted, %zu differ from ours.",
                       verdicts[LAB_AGREES], verdicts[LAB_DEPENDENT], verdicts[LAB_ANOMALOUS], verdicts[LAB_MISPRINT],
                       verdicts[LAB_DIFFERS]);
    if (verdicts[LAB_NOT_BUILT])
        cli_out_format(out, "\n%zu cells were left out: this build lacks their hash functions.",
                       verdicts[LAB_NOT_BUILT]);
}

static void print_together(cli_out *out, lab_family_test test)
{
    if (test.cells == 0)
        return;
    cli_out_format(out,
                   "\nAll together: the largest |z| of %zu different cell%s is %.2f, and chance gives more than %.2f "
                   "at most once in a hundred times",
                   test.cells, test.cells == 1 ? "" : "s", test.largest, test.bound);
    if (test.beyond)
        cli_out_format(out, ": %zu cell%s against theory.", test.beyond, test.beyond == 1 ? " speaks" : "s speak");
    else
        cli_out_text(out, ".");
}

enum { FILES_NAMED = 3 }; /* of a corpus; JSON has all */

static void print_workload(cli_out *out, const lab_settings *settings)
{
    cli_out_format(out, "\n%llu runs of %llu URLs, seed %llu, ", (unsigned long long)settings->runs,
                   (unsigned long long)settings->urls, (unsigned long long)settings->seed);
    if (!settings->corpus) {
        cli_out_text(out, "made up.\n");
        return;
    }
    size_t count = 0;
    while (lab_corpus_file(settings->corpus, count))
        count++;
    cli_out_format(out, "from %llu different ones of", (unsigned long long)lab_corpus_count(settings->corpus));
    for (size_t i = 0; i < count && i < FILES_NAMED; i++)
        cli_out_format(out, "%s %s", i ? "," : "", lab_corpus_file(settings->corpus, i));
    if (count > FILES_NAMED)
        cli_out_format(out, " and %zu other files", count - FILES_NAMED);
    cli_out_text(out, ".\n");
}

static void print_summary(cli_out *out, const lab_book *book)
{
    size_t verdicts[LAB_FAILS + 1] = {0}, tested = 0;
    for (size_t i = 0; i < book->count; i++)
        for (size_t j = 0; j < book->tables[i].rows * book->tables[i].columns; j++) {
            const lab_entry *entry = &book->tables[i].entries[j];
            verdicts[entry->verdict]++;
            tested += isnan(entry->z) ? 0 : 1;
        }
    cli_out_format(out, "%zu of %zu cells fit theory.", tested - verdicts[LAB_FAILS], tested);
    print_published(out, verdicts);
    print_together(out, lab_book_judge(book));
    print_workload(out, &book->settings);
}

static int print_tables(cli_out *out, const lab_book *book)
{
    int status = CLI_OK;
    for (size_t i = 0; i < book->count && status == CLI_OK; i++)
        status = print_table(out, &book->tables[i]);
    print_summary(out, book);
    return status;
}

int lab_print(cli_out *out, lab_form form, const lab_book *book)
{
    if (form == LAB_TABLE)
        return print_tables(out, book);
    if (form == LAB_CSV)
        print_csv(out, book);
    else if (form == LAB_JSON)
        print_json(out, book);
    else
        print_raw(out, book);
    return CLI_OK;
}
