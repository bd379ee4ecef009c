/*
 * The lab's findings as tables for people, CSV, JSON, and raw counts. Rates are in per cent, as published.
 */
#include "lab.h"

#include <math.h>
#include <stdio.h>
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

static const char *experiment_name(const lab_finding *finding)
{
    return finding->experiment ? finding->experiment->id : "cell";
}

/* The published number as it was printed, without what is not part of it; empty: nothing. */
static int published_length(const lab_finding *finding)
{
    if (!finding->published.given)
        return 0;
    const char *point = strchr(finding->printed, '.');
    size_t whole = point ? (size_t)(point - finding->printed) + 1 : 0;
    return (int)(whole + strspn(finding->printed + whole, "0123456789"));
}

static void print_csv(cli_out *out, const lab_sheet *sheet)
{
    cli_out_text(out, "experiment,row,column,published,theory,measured,low,high,runs,verdict\n");
    for (size_t i = 0; i < sheet->count; i++) {
        const lab_finding *finding = &sheet->findings[i];
        cli_out_format(out, "%s,%s,%s,%.*s,%.9g,%.9g,%.9g,%.9g,%llu,%s\n", experiment_name(finding), finding->row,
                       finding->column, published_length(finding), finding->printed ? finding->printed : "",
                       finding->theory, finding->measured, finding->low, finding->high,
                       (unsigned long long)finding->runs, lab_verdict_name(finding->verdict));
    }
}

static void print_object(cli_out *out, const lab_sheet *sheet, const lab_finding *finding)
{
    char text[256];
    cli_json json = {out, false};
    cli_json_open(&json, NULL, '{');
    cli_json_string(&json, "experiment", experiment_name(finding));
    cli_json_string(&json, "row", finding->row);
    cli_json_string(&json, "column", finding->column);
    cli_json_real(&json, "published", finding->published.given ? finding->published.percent : (double)NAN);
    cli_json_real(&json, "theory", finding->theory);
    cli_json_real(&json, "measured", finding->measured);
    cli_json_real(&json, "low", finding->low);
    cli_json_real(&json, "high", finding->high);
    cli_json_count(&json, "runs", finding->runs);
    cli_json_string(&json, "verdict", lab_verdict_name(finding->verdict));
    cli_json_count(&json, "count", finding->count);
    cli_json_real(&json, "z", finding->z);
    cli_json_real(&json, "published_z", finding->published.given ? finding->published_z : (double)NAN);
    lab_remark(finding, text, sizeof text);
    cli_json_string(&json, "remark", text);
    cli_json_string(&json, "configuration", lab_config_text(&finding->config, text, sizeof text));
    cli_json_count(&json, "urls", sheet->results->settings.urls);
    cli_json_count(&json, "seed", sheet->results->settings.seed);
    cli_json_close(&json, '}');
}

static void print_json(cli_out *out, const lab_sheet *sheet)
{
    cli_out_text(out, "[");
    for (size_t i = 0; i < sheet->count; i++) {
        cli_out_text(out, i == 0 ? "\n" : ",\n");
        print_object(out, sheet, &sheet->findings[i]);
    }
    cli_out_text(out, "\n]\n");
}

/* One run of one cell: with its key, kind and params anybody can count again. */
static void print_raw_line(cli_out *out, const lab_sheet *sheet, size_t cell, uint64_t run)
{
    const lab_results *results = sheet->results;
    const lab_finding *finding = &sheet->findings[cell];
    size_t job = results->job_of[cell];
    unsigned char key[VIDI_KEY_BYTES];
    char params[256];
    const char *kind = lab_config_set(&finding->config, params, sizeof params);
    cli_out_format(out, "%s,%s,%s,%llu,%.0f,%llu,", experiment_name(finding), finding->row, finding->column,
                   (unsigned long long)run + 1, finding->expected.asked,
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

static void print_raw(cli_out *out, const lab_sheet *sheet)
{
    cli_out_text(out, "experiment,row,column,run,asked,count,key,kind,params,epochs,marked\n");
    for (size_t i = 0; i < sheet->count; i++)
        for (uint64_t run = 0; run < sheet->results->settings.runs; run++)
            print_raw_line(out, sheet, i, run);
}

static void add_rate(cli_table *table, double percent)
{
    cli_table_cell(table, "%.*f", percent >= 1 ? 4 : percent >= 0.01 ? 5 : 7, percent);
}

static void add_row(cli_table *table, const lab_finding *finding)
{
    cli_table_cell(table, "%s", finding->row);
    cli_table_cell(table, "%s", finding->column);
    cli_table_cell(table, "%.*s", published_length(finding), finding->printed ? finding->printed : "");
    add_rate(table, finding->theory);
    add_rate(table, finding->measured);
    add_rate(table, finding->low);
    add_rate(table, finding->high);
    cli_table_cell(table, "%+.1f", finding->z);
    cli_table_cell(table, "%s", lab_verdict_name(finding->verdict));
}

static void print_chi_square(cli_out *out, const lab_sheet *sheet, size_t first, size_t count)
{
    lab_table_test test = lab_judge_table(sheet->results, sheet->findings + first, first, count);
    if (!test.tested)
        return;
    cli_out_format(
        out, "Ours against theory: chi-square %.1f for %zu cells (as good as %.1f independent ones), p = %.3f%s\n",
        test.chi_square, test.cells, test.freedom, test.p,
        test.fits      ? ""
        : test.p < 0.5 ? ": too good"
                       : ": too bad");
}

/* Figures that scatter more than 100 independent runs would. */
static void print_scatter(cli_out *out, const lab_sheet *sheet, size_t first, size_t count)
{
    lab_scatter scatter = lab_judge_scatter(sheet->findings + first, count);
    if (!scatter.fits)
        cli_out_format(out,
                       "Published against theory: chi-square %.1f for %zu cells: the scatter of some %.0f independent "
                       "runs, not of %d\n",
                       scatter.chi_square, scatter.cells, scatter.runs, LAB_PUBLISHED_RUNS);
}

static void print_remarks(cli_out *out, const lab_sheet *sheet, size_t first, size_t count)
{
    char text[256];
    for (size_t i = first; i < first + count; i++) {
        lab_remark(&sheet->findings[i], text, sizeof text);
        if (text[0])
            cli_out_format(out, "  %s, %s: %s.\n", sheet->findings[i].row, sheet->findings[i].column, text);
    }
}

static int print_experiment(cli_out *out, const lab_sheet *sheet, size_t first, size_t count)
{
    static const char *const heads[] = {"row", "column", "published", "theory", "measured",
                                        "low", "high",   "z",         "verdict"};
    const lab_experiment *experiment = sheet->findings[first].experiment;
    cli_table table = {.layout = "llrrrrrrl"};
    if (experiment)
        cli_out_format(out, "%s: %s (%s). %s\n\n", experiment->id, experiment->title, experiment->source,
                       experiment->note);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        cli_table_cell(&table, "%s", heads[i]);
    for (size_t i = first; i < first + count; i++)
        add_row(&table, &sheet->findings[i]);
    int status = cli_table_print(&table, out);
    cli_out_text(out, "\n");
    print_chi_square(out, sheet, first, count);
    print_scatter(out, sheet, first, count);
    print_remarks(out, sheet, first, count);
    cli_out_text(out, "\n");
    return status;
}

static void print_summary(cli_out *out, const lab_sheet *sheet)
{
    size_t verdicts[LAB_FAILS + 1] = {0}, fits = 0;
    for (size_t i = 0; i < sheet->count; i++) {
        verdicts[sheet->findings[i].verdict]++;
        fits += sheet->findings[i].fits;
    }
    cli_out_format(out, "%zu of %zu cells fit theory.", fits, sheet->count);
    if (sheet->count > verdicts[LAB_NO_FIGURE])
        cli_out_format(out,
                       " Published figures: %zu agree, %zu agree only if runs were not independent, %zu anomalous, %zu "
                       "misprinted.",
                       verdicts[LAB_AGREES], verdicts[LAB_DEPENDENT], verdicts[LAB_ANOMALOUS], verdicts[LAB_MISPRINT]);
    cli_out_format(out, "\n%llu runs of %llu URLs, seed %llu.\n", (unsigned long long)sheet->results->settings.runs,
                   (unsigned long long)sheet->results->settings.urls,
                   (unsigned long long)sheet->results->settings.seed);
}

static int print_tables(cli_out *out, const lab_sheet *sheet)
{
    int status = CLI_OK;
    for (size_t first = 0, last = 0; first < sheet->count && status == CLI_OK; first = last) {
        while (last < sheet->count && sheet->findings[last].experiment == sheet->findings[first].experiment)
            last++;
        status = print_experiment(out, sheet, first, last - first);
    }
    print_summary(out, sheet);
    return status;
}

int lab_print(cli_out *out, lab_form form, const lab_sheet *sheet)
{
    if (form == LAB_TABLE)
        return print_tables(out, sheet);
    if (form == LAB_CSV)
        print_csv(out, sheet);
    else if (form == LAB_JSON)
        print_json(out, sheet);
    else
        print_raw(out, sheet);
    return CLI_OK;
}
