/*
 * vidi lab: the papers' experiments again. The work is done in lab/; this reads what is asked for, shows how far it is,
 * and hands the findings to lab_forms.c.
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "options.h"

enum { THREADS_USUAL = 8 }; /* a thread takes a third of a gigabyte */

typedef struct lab_options {
    uint64_t runs, urls, seed, threads, run;
    const char *hash;
    uint64_t k, filters, crawls;
    double multiplier;
    bool incremental, shuffled, csv, json, raw;
} lab_options;

/* ---- progress ---- */

typedef struct meter {
    struct timespec start;
    bool shown;
} meter;

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void show_progress(void *context, uint64_t done, uint64_t runs)
{
    meter *meter = context;
    double passed = seconds_since(&meter->start);
    double left = passed / (double)done * (double)(runs - done);
    fprintf(stderr, "\rrun %llu of %llu, %.0f s left \033[K", (unsigned long long)done, (unsigned long long)runs, left);
    meter->shown = true;
}

/* ---- list, show, urls ---- */

static int print_list(void)
{
    const lab_experiment *experiment;
    cli_table table = {.layout = "lrl"};
    cli_out out;
    cli_out_init(&out, STDOUT_FILENO);
    cli_table_cell(&table, "experiment");
    cli_table_cell(&table, "cells");
    cli_table_cell(&table, "what it measures");
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++) {
        cli_table_cell(&table, "%s", experiment->id);
        cli_table_cell(&table, "%zu", lab_lines(experiment->rows) * lab_lines(experiment->columns));
        cli_table_cell(&table, "%s", experiment->title);
    }
    int status = cli_table_print(&table, &out);
    int closed = cli_out_close(&out);
    return closed != CLI_OK ? closed : status;
}

static const char *experiment_name(const void *context, size_t index)
{
    const lab_experiment *experiment = lab_experiment_at(index);
    (void)context;
    return experiment ? experiment->id : NULL;
}

static int unknown_experiment(const char *id)
{
    const char *nearest = cli_nearest(id, experiment_name, NULL);
    if (nearest)
        return cli_error("there is no experiment '%s'; did you mean '%s'?", id, nearest);
    return cli_error("there is no experiment '%s'; 'vidi lab list' names them", id);
}

static int print_experiment(const lab_experiment *experiment)
{
    static const char *const heads[] = {"row", "column", "published", "measures"};
    cli_table table = {.layout = "llrl"};
    char text[160];
    cli_out out;
    cli_out_init(&out, STDOUT_FILENO);
    cli_out_format(&out, "%s: %s\nFrom %s. %s\n\n", experiment->id, experiment->title, experiment->source,
                   experiment->note);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        cli_table_cell(&table, "%s", heads[i]);
    for (size_t row = 0; row < lab_lines(experiment->rows); row++)
        for (size_t column = 0; column < lab_lines(experiment->columns); column++) {
            const char *row_name = experiment->rows[row].name, *column_name = experiment->columns[column].name;
            const char *printed = lab_published_find(lab_published_all, experiment->id, row_name, column_name);
            lab_config config = lab_cell_config(experiment, row, column);
            cli_table_cell(&table, "%s", row_name);
            cli_table_cell(&table, "%s", column_name);
            cli_table_cell(&table, "%s", printed ? printed : "");
            cli_table_cell(&table, "%s", lab_config_text(&config, text, sizeof text));
        }
    int status = cli_table_print(&table, &out);
    int closed = cli_out_close(&out);
    return closed != CLI_OK ? closed : status;
}

static int show(cli_words ids)
{
    int status = CLI_OK;
    if (ids.count == 0)
        return cli_error("'vidi lab show' needs an experiment; 'vidi lab list' names them");
    for (size_t i = 0; i < ids.count && status == CLI_OK; i++) {
        const lab_experiment *experiment = lab_experiment_find(ids.list[i]);
        status = experiment ? print_experiment(experiment) : unknown_experiment(ids.list[i]);
    }
    return status;
}

static int print_urls(const lab_options *options)
{
    char url[LAB_URL_ROOM + 1];
    cli_out out;
    cli_out_init(&out, STDOUT_FILENO);
    for (uint64_t i = 0; i < 2 * options->urls && !out.error; i++) {
        size_t length = lab_url(url, options->seed, options->run - 1, i);
        url[length] = '\n';
        cli_out_bytes(&out, url, length + 1);
    }
    return cli_out_close(&out);
}

/* ---- run, cell ---- */

/* What is to be measured: cells of experiments, or one of its own. */
typedef struct lab_order {
    lab_config *configs;
    const lab_experiment **experiments; /* [cell]; NULL: none */
    size_t *rows, *columns;
    size_t count;
} lab_order;

static void order_free(lab_order *order)
{
    free(order->configs);
    free(order->experiments);
    free(order->rows);
    free(order->columns);
}

static int order_make(lab_order *order, size_t cells)
{
    order->configs = calloc(cells + 1, sizeof *order->configs);
    order->experiments = calloc(cells + 1, sizeof *order->experiments);
    order->rows = calloc(cells + 1, sizeof *order->rows);
    order->columns = calloc(cells + 1, sizeof *order->columns);
    if (!order->configs || !order->experiments || !order->rows || !order->columns)
        return cli_error("no memory for %zu cells", cells);
    return CLI_OK;
}

static void order_experiment(lab_order *order, const lab_experiment *experiment)
{
    for (size_t row = 0; row < lab_lines(experiment->rows); row++)
        for (size_t column = 0; column < lab_lines(experiment->columns); column++) {
            order->configs[order->count] = lab_cell_config(experiment, row, column);
            order->experiments[order->count] = experiment;
            order->rows[order->count] = row;
            order->columns[order->count++] = column;
        }
}

/* All experiments, or those that are named, each once and in the order of the papers. */
static int order_experiments(lab_order *order, cli_words ids)
{
    const lab_experiment *experiment;
    size_t cells = 0;
    for (size_t i = 0; i < ids.count; i++)
        if (!lab_experiment_find(ids.list[i]))
            return unknown_experiment(ids.list[i]);
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        cells += lab_lines(experiment->rows) * lab_lines(experiment->columns);
    int status = order_make(order, cells);
    for (size_t i = 0; status == CLI_OK && (experiment = lab_experiment_at(i)); i++) {
        bool wanted = ids.count == 0;
        for (size_t j = 0; j < ids.count; j++)
            wanted |= strcmp(ids.list[j], experiment->id) == 0;
        if (wanted)
            order_experiment(order, experiment);
    }
    return status;
}

static int order_cell(lab_order *order, const lab_options *options)
{
    int status = order_make(order, 1);
    if (status != CLI_OK)
        return status;
    order->configs[order->count++] = (lab_config){
        .functions = options->hash,
        .k = (unsigned)options->k,
        .multiplier = options->multiplier,
        .members = (unsigned)options->filters,
        .epochs = (unsigned)options->crawls,
        .incremental = options->incremental || options->shuffled,
        .shuffled = options->shuffled,
        .tenths = LAB_TENTHS,
    };
    return CLI_OK;
}

static lab_finding find(const lab_order *order, const lab_results *results, size_t cell)
{
    const lab_experiment *experiment = order->experiments[cell];
    if (experiment)
        return lab_judge_cell(experiment, order->rows[cell], order->columns[cell], results, cell, lab_published_all);
    lab_finding finding = lab_judge(&order->configs[cell], results, cell, NULL);
    finding.row = finding.column = "";
    return finding;
}

static int print_findings(const lab_order *order, const lab_results *results, lab_form form)
{
    lab_finding *findings = calloc(order->count + 1, sizeof *findings);
    lab_sheet sheet = {results, findings, order->count};
    cli_out out;
    if (!findings)
        return cli_error("no memory for %zu cells", order->count);
    for (size_t i = 0; i < order->count; i++)
        findings[i] = find(order, results, i);
    cli_out_init(&out, STDOUT_FILENO);
    int status = lab_print(&out, form, &sheet);
    int closed = cli_out_close(&out);
    free(findings);
    return closed != CLI_OK ? closed : status;
}

static int measure(const lab_order *order, const lab_options *options)
{
    meter meter = {.shown = false};
    lab_settings settings = {
        .urls = options->urls, .runs = options->runs, .seed = options->seed, .threads = (unsigned)options->threads};
    lab_results results;
    lab_form form = options->csv ? LAB_CSV : options->json ? LAB_JSON : options->raw ? LAB_RAW : LAB_TABLE;
    clock_gettime(CLOCK_MONOTONIC, &meter.start);
    if (isatty(STDERR_FILENO)) {
        settings.progress = show_progress;
        settings.context = &meter;
    }
    int error = lab_measure(&results, order->configs, order->count, &settings);
    if (meter.shown)
        fprintf(stderr, "\r\033[K");
    int status = error < 0 ? cli_library_error(error) : print_findings(order, &results, form);
    lab_results_free(&results);
    return status;
}

static int measure_ordered(lab_options *options, cli_words ids, bool cell)
{
    lab_order order = {0};
    if (options->csv + options->json + options->raw > 1)
        return cli_error("--csv, --json and --raw exclude one another");
    if (cell && ids.count > 0)
        return cli_error("'vidi lab cell' takes options, not '%s'", ids.list[0]);
    int status = cell ? order_cell(&order, options) : order_experiments(&order, ids);
    if (status == CLI_OK)
        status = measure(&order, options);
    order_free(&order);
    return status;
}

static int act(lab_options *options, cli_words words)
{
    if (words.count == 0)
        return cli_error("'vidi lab' needs one of list, show, run, cell and urls");
    const char *action = words.list[0];
    cli_words rest = {words.list + 1, words.count - 1};
    if (strcmp(action, "show") == 0)
        return show(rest);
    if (strcmp(action, "run") == 0)
        return measure_ordered(options, rest, false);
    if (strcmp(action, "cell") == 0)
        return measure_ordered(options, rest, true);
    if (strcmp(action, "list") != 0 && strcmp(action, "urls") != 0)
        return cli_error("'vidi lab' knows list, show, run, cell and urls, not '%s'", action);
    if (rest.count > 0)
        return cli_error("'vidi lab %s' takes no '%s'", action, rest.list[0]);
    return action[0] == 'l' ? print_list() : print_urls(options);
}

static uint64_t usual_threads(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > THREADS_USUAL ? THREADS_USUAL : (uint64_t)processors;
}

static int run(const cli_command *self, cli_words words)
{
    lab_options options = {.runs = 100,
                           .urls = 1000000,
                           .seed = 1,
                           .run = 1,
                           .hash = "jenkins",
                           .k = 3,
                           .filters = 1,
                           .crawls = 1,
                           .multiplier = 2.0};
    options.threads = usual_threads();
    int status = cli_options_parse(self, &words, &options);
    return status == CLI_GO_ON ? act(&options, words) : status;
}

#define FIELD(name) offsetof(lab_options, name)

static const cli_option options_table[] = {
    {"runs", 0, CLI_COUNT, FIELD(runs), "N", "Runs, each with new URLs and new salts [100]", NULL, UINT32_MAX},
    {"urls", 0, CLI_COUNT, FIELD(urls), "N", "URLs that go in; as many others are asked [1e6]", NULL, UINT32_MAX},
    {"seed", 0, CLI_COUNT, FIELD(seed), "S", "What all URLs and salts follow from [1]", NULL, 0},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", "Runs at the same time [processors, at most 8]",
     "A run of 1e6 URLs takes a third of a gigabyte. The numbers do not depend on it.", 256},
    {"csv", 0, CLI_FLAG, FIELD(csv), NULL, "Print CSV: a line a cell, rates in per cent", NULL, 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print an array of objects", NULL, 0},
    {"raw", 0, CLI_FLAG, FIELD(raw), NULL, "Print the counts of every run, as CSV", NULL, 0},
    {"run", 0, CLI_COUNT, FIELD(run), "R", "urls: of which run [1]", NULL, UINT32_MAX},
    {"hash", 0, CLI_TEXT, FIELD(hash), "NAME", "cell: hash function; a+b for different ones [jenkins]", NULL, 0},
    {"k", 0, CLI_COUNT, FIELD(k), "K", "cell: positions a URL [3]", NULL, 64},
    {"multiplier", 0, CLI_REAL, FIELD(multiplier), "M", "cell: M in bits = URLs * K * M [2]", NULL, 0},
    {"filters", 0, CLI_COUNT, FIELD(filters), "F", "cell: filters side by side [1]", NULL, 8},
    {"crawls", 0, CLI_COUNT, FIELD(crawls), "E", "cell: crawls, each with salts of its own [1]", NULL, 4},
    {"incremental", 0, CLI_FLAG, FIELD(incremental), NULL, "cell: ask each URL before it goes in", NULL, 0},
    {"shuffled", 0, CLI_FLAG, FIELD(shuffled), NULL, "cell: incremental, later crawls in another order", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_lab = {
    .name = "lab",
    .summary = "Run the papers' experiments again, beside theory",
    .usage = "vidi lab list | show ID | run [ID]... | cell | urls [OPTION]...",
    .about =
        "Measures the tables of the papers on vidi's filters and holds them against theory and the published figures.",
    .details =
        "'list' names the experiments, 'show' describes the cells of one, 'run' measures those that are named, or all. "
        "'cell' measures a configuration that is in no table. 'urls' prints the URLs of a run: the first half goes in, "
        "the second half is asked.\n"
        "Rates are in per cent. The interval is one of 95 %. The verdict is on the published figure: it 'agrees' with "
        "theory within its rounding and the chance of 100 independent runs; or does so only if its runs were not "
        "independent ('dependent'); or it is 'anomalous'; or a 'misprint', an overview that differs from the table "
        "that "
        "it repeats. Cells without a figure are 'measured'. 'fails' says that our own measurement is off.\n"
        "The exit status is 0, or 2 after an error.",
    .examples = "  vidi lab run thesis-5.9 --runs 3\n"
                "  vidi lab run --csv > tables.csv\n"
                "  vidi lab cell --k 7 --multiplier 1.44 --filters 2\n"
                "  vidi lab urls --run 2 --urls 10\n",
    .options = options_table,
    .operand = "ID",
    .run = run,
};
