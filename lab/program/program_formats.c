/*
 * The lab's findings as tables for people, CSV, JSON, and raw counts. Rates are in per cent, as published.
 */
#include "lab/program/program.h"

#include <ctype.h>
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

/* Where the measured URLs come from. */
static void put_corpus(json_writer *json, const lab_corpus *corpus)
{
    const char *file;
    if (!corpus) {
        json_add_string(json, "corpus", "synthetic");
        return;
    }
    json_open(json, "corpus", '{');
    json_open(json, "files", '[');
    for (size_t i = 0; (file = lab_corpus_file(corpus, i)); i++)
        json_add_string(json, NULL, file);
    json_close(json, ']');
    json_add_count(json, "urls", lab_corpus_count(corpus));
    json_close(json, '}');
}

static void put_graph(json_writer *json, const lab_graph *graph)
{
    const char *file;
    if (!graph)
        return;
    json_open(json, "graph", '[');
    for (size_t i = 0; (file = lab_graph_file(graph, i)); i++)
        json_add_string(json, NULL, file);
    json_close(json, ']');
}

static void print_object(cli_out *out, const lab_book *book, const lab_table *table, const lab_entry *entry)
{
    json_writer json = cli_json_to(out);
    json_open(&json, NULL, '{');
    json_add_string(&json, "experiment", table->id);
    json_add_string(&json, "row", entry->row);
    json_add_string(&json, "column", entry->column);
    json_add_real(&json, "published", entry->published);
    json_add_real(&json, "theory", entry->theory);
    json_add_real(&json, "measured", entry->measured);
    json_add_real(&json, "low", entry->low);
    json_add_real(&json, "high", entry->high);
    json_add_string(&json, "unit", table->unit);
    json_add_count(&json, "runs", entry->runs);
    json_add_string(&json, "verdict", lab_verdict_name(entry->verdict));
    json_add_real(&json, "z", entry->z);
    json_add_string(&json, "remark", entry->remark);
    json_add_count(&json, "urls", book->settings.urls);
    json_add_count(&json, "seed", book->settings.seed);
    put_corpus(&json, book->settings.corpus);
    put_graph(&json, book->settings.graph);
    json_close(&json, '}');
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

/* ---- CSV ---- */

static void print_hex(FILE *to, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fprintf(to, "%02x", bytes[i]);
}

/* The salts of all filters of a cell: '+' between filters, '/' between the functions of a filter. */
static void print_salts(FILE *to, const lab_config *config, const lab_settings *settings, uint64_t run)
{
    unsigned char salts[LAB_K_MAX][LAB_SALT_BYTES];
    for (unsigned i = 0; i < config->epochs * config->members; i++) {
        int count = lab_salts(config, settings, run, i / config->members, i % config->members, salts);
        fputs(i ? "+" : "", to);
        for (int j = 0; j < count; j++) {
            fputs(j ? "/" : "", to);
            print_hex(to, salts[j], LAB_SALT_BYTES);
        }
    }
}

/* One run of one cell: with its key, kind and params, or with its salts, anyone can count again. */
static void print_raw_line(FILE *to, const lab_book *book, size_t cell, uint64_t run)
{
    const lab_results *results = &book->results;
    const lab_finding *finding = &book->findings[cell];
    size_t job = results->job_of[cell];
    unsigned char key[VIDI_KEY_BYTES];
    char params[256];
    const char *kind = lab_config_set(&finding->config, params, sizeof params);
    lab_csv_name(to, finding->experiment ? finding->experiment->id : "cell");
    lab_csv_name(to, finding->row);
    lab_csv_name(to, finding->column);
    fprintf(to, "%llu,%.0f,%llu,", (unsigned long long)run + 1, finding->expected.asked,
            (unsigned long long)lab_count(results, run, cell));
    lab_key(key, results->settings.seed, run);
    print_hex(to, key, sizeof key);
    fprintf(to, ",%s,\"%s\",%u,", kind, params, finding->config.epochs);
    for (unsigned i = 0; i < results->filters_of[job]; i++) {
        size_t index = results->filter_of[job * LAB_FILTERS_MAX + i].index;
        fprintf(to, "%s%llu", i ? "+" : "", (unsigned long long)results->marked[run * results->filters + index]);
    }
    fputc(',', to);
    print_salts(to, &finding->config, &results->settings, run);
    fputc('\n', to);
}

/* A number of a study is a count, a time or a ratio, and belongs to no set. */
static void print_raw_numbers(FILE *to, const lab_numbers *numbers)
{
    const lab_study *study = numbers->study;
    size_t columns = lab_study_columns(study), cells = lab_study_rows(study) * columns;
    for (size_t cell = 0; cell < cells; cell++)
        for (uint64_t run = 0; run < numbers->settings.runs; run++) {
            lab_csv_name(to, study->id);
            lab_csv_name(to, study->rows[cell / columns]);
            lab_csv_name(to, study->columns[cell % columns]);
            fprintf(to, "%llu,,", (unsigned long long)run + 1);
            lab_csv_real(to, numbers->numbers[run * cells + cell]);
            fputs(",,,,,\n", to);
        }
}

static void print_raw(FILE *to, const lab_book *book)
{
    fputs("experiment,row,column,run,asked,count,key,kind,params,epochs,marked,salts\n", to);
    for (size_t i = 0; i < book->finding_count; i++)
        for (uint64_t run = 0; run < book->findings[i].runs; run++)
            print_raw_line(to, book, i, run);
    for (size_t i = 0; i < book->study_count; i++)
        print_raw_numbers(to, &book->numbers[i]);
}

static ssize_t take_bytes(void *out, const char *bytes, size_t length)
{
    cli_out_bytes(out, bytes, length);
    return (ssize_t)length;
}

FILE *lab_file_of(cli_out *out)
{
    return fopencookie(out, "w", (cookie_io_functions_t){.write = take_bytes});
}

static int print_to_file(cli_out *out, const lab_book *book, void (*print)(FILE *to, const lab_book *book))
{
    FILE *to = lab_file_of(out);
    if (!to)
        return cli_error("out of memory");
    print(to, book);
    return fclose(to) == 0 ? CLI_OK : cli_error("out of memory");
}

/* ---- for people ---- */

#define SMALL 1e-5 /* smaller numbers that are not 0 must not look like 0 */

/* A rate in per cent with as many digits as tell something; anything else with four. */
static void add_real(cli_table *table, const char *unit, double value)
{
    if (!isfinite(value))
        cli_table_cell(table, "%s", "");
    else if (value > 0 && value < SMALL)
        cli_table_cell(table, "%.3g", value);
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
    cli_table_cell(table, "%s", lab_published_text(entry, published, sizeof published, 4));
    add_real(table, unit, entry->theory);
    add_real(table, unit, entry->measured);
    add_real(table, unit, entry->low);
    add_real(table, unit, entry->high);
    if (isnan(entry->z))
        cli_table_cell(table, "%s", "");
    else
        cli_table_cell(table, "%+.1f", entry->z);
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

/* The published figures' verdicts: how many there are of each, and what they rest on. */
static void print_published(cli_out *out, const lab_score *score)
{
    const size_t *verdicts = score->verdicts;
    char bases[LAB_REMARK_ROOM];
    size_t published = 0;
    for (size_t i = LAB_AGREES; i <= LAB_DIFFERS; i++)
        published += verdicts[i];
    if (published)
        cli_out_format(out,
                       " Published figures: %zu agree, %zu agree only if runs were not independent, %zu doubtful (%.1f "
                       "by chance), %zu anomalous, %zu misprinted, %zu differ from ours; %s.",
                       verdicts[LAB_AGREES], verdicts[LAB_DEPENDENT], verdicts[LAB_DOUBTFUL],
                       lab_doubtful_by_chance((double)score->bases[LAB_BY_CHANCE]), verdicts[LAB_ANOMALOUS],
                       verdicts[LAB_MISPRINT], verdicts[LAB_DIFFERS], lab_bases_text(score, bases));
    if (verdicts[LAB_NOT_BUILT])
        cli_out_format(out, "\n%zu cells were left out: this build lacks a hash function or library that they need.",
                       verdicts[LAB_NOT_BUILT]);
}

enum { FILES_NAMED = 3 }; /* of a corpus; JSON has all */

/* What a terminal would act on becomes '?'. */
static void put_file_name(cli_out *out, const char *before, const char *name)
{
    cli_out_text(out, before);
    if (strcmp(name, "-") == 0)
        name = "standard input";
    for (; *name; name++)
        cli_out_bytes(out, (unsigned char)*name < 0x20 || *name == 0x7F ? "?" : name, 1);
}

static void print_streams(cli_out *out, const lab_settings *settings)
{
    size_t streams = settings->streams ? lab_streams_count(settings->streams) : 0;
    if (streams)
        cli_out_format(out, "%zu stream%s of at most %llu lines.\n", streams, streams == 1 ? "" : "s",
                       (unsigned long long)settings->urls);
}

static const char *corpus_file(const void *corpus, size_t index)
{
    return lab_corpus_file(corpus, index);
}

static const char *graph_file(const void *graph, size_t index)
{
    return lab_graph_file(graph, index);
}

/* Names the first files that something was read from, and counts the others. */
static void print_files(cli_out *out, const void *files, const char *(*file)(const void *files, size_t index))
{
    size_t count = 0;
    for (; file(files, count); count++)
        if (count < FILES_NAMED)
            put_file_name(out, count ? ", " : " ", file(files, count));
    if (count > FILES_NAMED)
        cli_out_format(out, " and %zu other files", count - FILES_NAMED);
}

static void print_workload(cli_out *out, const lab_settings *settings)
{
    char runs[LAB_RUNS_ROOM];
    lab_runs_text(settings, runs);
    cli_out_format(out, "\n%c%s of %llu %sURL%s, seed %llu", toupper((unsigned char)runs[0]), runs + 1,
                   (unsigned long long)settings->urls, settings->corpus ? "" : "synthetic ",
                   settings->urls == 1 ? "" : "s", (unsigned long long)settings->seed);
    if (settings->corpus) {
        cli_out_format(out, ", from %llu different ones of", (unsigned long long)lab_corpus_count(settings->corpus));
        print_files(out, settings->corpus, corpus_file);
    }
    if (settings->graph) {
        cli_out_text(out, "; the link graph is that of");
        print_files(out, settings->graph, graph_file);
    }
    cli_out_text(out, ".\n");
}

static void print_summary(cli_out *out, const lab_book *book)
{
    lab_score score = lab_score_of(book);
    char together[LAB_REMARK_ROOM];
    cli_out_format(out, "%zu of %zu cells fit theory.", score.tested - score.verdicts[LAB_FAILS], score.tested);
    print_published(out, &score);
    if (lab_together_text(book, together)[0])
        cli_out_format(out, "\n%s.", together);
    print_workload(out, &book->settings);
    print_streams(out, &book->settings);
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
        return print_to_file(out, book, lab_csv_book);
    if (form == LAB_RAW)
        return print_to_file(out, book, print_raw);
    print_json(out, book);
    return CLI_OK;
}
