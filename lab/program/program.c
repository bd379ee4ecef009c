/*
 * vidi-lab, the program that `vidi lab` runs: the papers' experiments again. The other folders of lab/ do the work;
 * this reads the command line, shows progress, and hands the findings to program_formats.c.
 */
#include "lab/program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/options.h"

enum { THREADS_USUAL = 8 }; /* a thread takes a third of a gigabyte */

/* ---- list, show, urls ---- */

static int print_and_close(cli_table *table, cli_out *out)
{
    int status = cli_table_print(table, out);
    int closed = cli_out_close(out);
    return closed != CLI_OK ? closed : status;
}

static void add_to_list(cli_table *table, const char *id, size_t cells, const char *title)
{
    cli_table_cell(table, "%s", id);
    cli_table_cell(table, "%zu", cells);
    cli_table_cell(table, "%s", title);
}

static int print_list(void)
{
    const lab_experiment *experiment;
    const lab_study *study;
    cli_table table = {.layout = "lrl"};
    cli_out out;
    cli_out_init(&out, STDOUT_FILENO);
    cli_table_cell(&table, "experiment");
    cli_table_cell(&table, "cells");
    cli_table_cell(&table, "what it measures");
    for (size_t i = 0; (experiment = lab_experiment_at(i)); i++)
        add_to_list(&table, experiment->id, lab_lines(experiment->rows) * lab_lines(experiment->columns),
                    experiment->title);
    for (size_t i = 0; (study = lab_study_at(i)); i++)
        add_to_list(&table, study->id, lab_study_rows(study) * lab_study_columns(study), study->title);
    return print_and_close(&table, &out);
}

static void add_cell(cli_table *table, const char *id, const char *row, const char *column)
{
    const char *printed = lab_published_find(lab_published_all, id, row, column);
    cli_table_cell(table, "%s", row);
    cli_table_cell(table, "%s", column);
    cli_table_cell(table, "%s", printed ? printed : "");
}

/* Describes an experiment of either sort; configurations also say what each cell measures. */
static int show_one(const char *id)
{
    const lab_experiment *experiment = lab_experiment_find(id);
    const lab_study *study = experiment ? NULL : lab_study_find(id);
    cli_table table = {.layout = experiment ? "llrl" : "llr"};
    char text[160];
    cli_out out;
    cli_out_init(&out, STDOUT_FILENO);
    if (experiment)
        cli_out_format(&out, "%s: %s\nFrom %s. %s\n\n", id, experiment->title, experiment->source, experiment->note);
    else
        cli_out_format(&out, "%s: %s\nFrom %s. %s\nEach cell in %s.\n\n", id, study->title, study->source, study->note,
                       study->unit);
    cli_table_cell(&table, "row");
    cli_table_cell(&table, "column");
    cli_table_cell(&table, "published");
    if (experiment)
        cli_table_cell(&table, "measures");
    for (size_t row = 0; study && study->rows[row]; row++)
        for (size_t column = 0; study->columns[column]; column++)
            add_cell(&table, id, study->rows[row], study->columns[column]);
    for (size_t row = 0; experiment && experiment->rows[row].name; row++)
        for (size_t column = 0; experiment->columns[column].name; column++) {
            lab_config config = lab_cell_config(experiment, row, column);
            add_cell(&table, id, experiment->rows[row].name, experiment->columns[column].name);
            cli_table_cell(&table, "%s", lab_config_text(&config, text, sizeof text));
        }
    return print_and_close(&table, &out);
}

static bool is_experiment(const char *id)
{
    return lab_experiment_find(id) || lab_study_find(id);
}

static int print_empty_line(void)
{
    cli_out out;
    cli_out_init(&out, STDOUT_FILENO);
    cli_out_text(&out, "\n");
    return cli_out_close(&out);
}

static int show(cli_words words)
{
    LAB_OWN(lab_names_free) cli_words ids = {NULL, 0};
    if (words.count == 0)
        return cli_error("'vidi lab show' needs an experiment; 'vidi lab list' names them");
    CLI_TRY(lab_names_make(&ids, words, lab_experiment_name));
    for (size_t i = 0; i < ids.count; i++) {
        if (i > 0)
            CLI_TRY(print_empty_line());
        CLI_TRY(show_one(ids.list[i]));
    }
    return CLI_OK;
}

static int print_urls(lab_options *options)
{
    char url[LAB_URL_ROOM + 1];
    cli_out out;
    CLI_TRY(lab_options_begin(options));
    lab_settings settings = {.seed = options->seed, .corpus = options->corpus};
    int error = options->corpus ? lab_corpus_suffices(options->corpus, options->urls, 2 * options->urls) : 0;
    if (error < 0)
        return cli_library_error(error);
    cli_out_init(&out, STDOUT_FILENO);
    for (uint64_t i = 0; i < 2 * options->urls && !out.error; i++) {
        size_t length = lab_url(url, &settings, options->run - 1, i);
        url[length] = '\n';
        cli_out_bytes(&out, url, length + 1);
    }
    return cli_out_close(&out);
}

/* ---- run, cell ---- */

static lab_config asked_cell(const lab_options *options)
{
    return (lab_config){
        .functions = options->hash,
        .k = (unsigned)options->k,
        .multiplier = options->multiplier,
        .members = (unsigned)options->filters,
        .epochs = (unsigned)options->crawls,
        .incremental = options->incremental || options->shuffled,
        .shuffled = options->shuffled,
        .tenths = LAB_TENTHS,
        .kind = options->kind && strcmp(options->kind, "counting") == 0 ? options->kind : NULL,
    };
}

/* classic and spatial follow from the number of filters, and may be said, too. */
static int check_kind(const lab_options *options)
{
    const char *kind = options->kind;
    if (!kind || strcmp(kind, "counting") == 0)
        return CLI_OK;
    if (strcmp(kind, "classic") != 0 && strcmp(kind, "spatial") != 0)
        return cli_error("a cell is of kind classic, spatial or counting, not '%s'; 'vidi lab run kinds-lost' has all",
                         kind);
    if ((kind[0] == 's') != (options->filters > 1))
        return cli_error("--kind %s has %s; change --filters", kind,
                         kind[0] == 's' ? "two filters or more" : "one filter");
    return CLI_OK;
}

static int print_book(const lab_book *book, const lab_options *options)
{
    lab_form form = options->csv ? LAB_CSV : options->json ? LAB_JSON : options->raw ? LAB_RAW : LAB_TABLE;
    cli_out out;
    cli_out_init(&out, STDOUT_FILENO);
    int status = lab_print(&out, form, book);
    int closed = cli_out_close(&out);
    return closed != CLI_OK ? closed : status;
}

/* Moves operands that are files and not experiments to the list of an option, if that was given. */
static int take_files_for(cli_words *option, cli_words *words)
{
    size_t stay = 0;
    if (!option->count)
        return CLI_OK;
    char **files = realloc(option->list, (option->count + words->count) * sizeof *files);
    if (!files)
        return cli_error("out of memory");
    option->list = files;
    for (size_t i = 0; i < words->count; i++)
        if (!is_experiment(words->list[i]) && access(words->list[i], F_OK) == 0)
            files[option->count++] = words->list[i];
        else
            words->list[stay++] = words->list[i];
    words->count = stay;
    return CLI_OK;
}

/* --corpus *.txt is --corpus a.txt b.txt for us, and so is --streams. */
static int take_files(lab_options *options, cli_words *words)
{
    cli_words *files = options->stream_files.count ? &options->stream_files : &options->files;
    size_t before = words->count;
    CLI_TRY(take_files_for(files, words));
    if (words->count < before && options->files.count && options->stream_files.count)
        return cli_error("is '%s' for --corpus or for --streams? Give the option before each file",
                         files->list[files->count - 1]);
    return CLI_OK;
}

/* All cells together: the exit status, with a sentence if they contradict theory. */
static int judge_together(const lab_book *book)
{
    lab_family_test test = lab_book_judge(book);
    if (test.beyond == 0)
        return CLI_OK;
    cli_warning(
        "%zu of %zu different cells contradict%s theory: the largest |z| is %.2f, and by chance it exceeds %.2f "
        "at most once in a hundred times; another --seed tells whether it was chance",
        test.beyond, test.cells, test.beyond == 1 ? "s" : "", test.largest, test.bound);
    return CLI_CONTRADICTED;
}

static int check_forms(const lab_options *options)
{
    return options->csv + options->json + options->raw > 1 ? cli_error("--csv, --json and --raw exclude one another")
                                                           : CLI_OK;
}

static int measure_cell(lab_options *options, cli_words words)
{
    lab_config cell = asked_cell(options);
    LAB_OWN(lab_book_free) lab_book book = {.count = 0};
    char text[160];
    if (words.count > 0)
        return cli_error("'vidi lab cell' takes options, not '%s'", words.list[0]);
    CLI_TRY(check_forms(options));
    CLI_TRY(check_kind(options));
    CLI_TRY(lab_run_book(&book, options, words, &cell));
    /* A cell has no name, so its configuration stands for one. */
    book.findings[0].row = book.tables[0].entries[0].row = lab_config_text(&cell, text, sizeof text);
    CLI_TRY(print_book(&book, options));
    return judge_together(&book);
}

static int measure_and_print(lab_options *options, cli_words words)
{
    LAB_OWN(lab_book_free) lab_book book = {.count = 0};
    LAB_OWN(lab_names_free) cli_words ids = {NULL, 0};
    CLI_TRY(check_forms(options));
    CLI_TRY(lab_names_make(&ids, words, lab_experiment_name));
    CLI_TRY(lab_run_book(&book, options, ids, NULL));
    CLI_TRY(print_book(&book, options));
    return judge_together(&book);
}

static int measure_and_report(lab_options *options, cli_words words)
{
    lab_report_options report = {.file = options->file,
                                 .plots = options->plots,
                                 .tables = options->tables,
                                 .fill = options->fill,
                                 .ids = words,
                                 .corpus = options->files,
                                 .streams = options->stream_files,
                                 .graph = options->graph_files};
    LAB_OWN(lab_book_free) lab_book book = {.count = 0};
    LAB_OWN(lab_names_free) cli_words ids = {NULL, 0};
    CLI_TRY(lab_names_make(&ids, words, lab_experiment_name));
    CLI_TRY(cli_lab_report_ready(&report));
    CLI_TRY(lab_run_book(&book, options, ids, NULL));
    report.seconds = options->seconds;
    report.continued = options->continued;
    return cli_lab_report(&book, &report);
}

/* ---- options ---- */

static uint64_t usual_threads(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors < 1 ? 1 : processors > THREADS_USUAL ? THREADS_USUAL : (uint64_t)processors;
}

static void set_default(uint64_t *value, uint64_t usual)
{
    *value = *value ? *value : usual;
}

/* What was not given is as in not_given until here: check_options tells by that. */
static void set_defaults(lab_options *options)
{
    set_default(&options->runs, 100);
    set_default(&options->urls, 1000000);
    set_default(&options->seed, 1);
    set_default(&options->threads, usual_threads());
    set_default(&options->run, 1);
    set_default(&options->k, 3);
    set_default(&options->filters, 1);
    set_default(&options->crawls, 1);
    options->precision = options->precision < 0 ? LAB_PRECISION_USUAL : options->precision;
    options->multiplier = options->multiplier > 0 ? options->multiplier : 2.0;
    options->hash = options->hash ? options->hash : "jenkins";
}

#define ACTIONS "list, show, run, report, claims, fill, cell and urls"

/* one-run is for processes that the program starts itself: program_apart.c. */
static bool is_action(const char *word)
{
    static const char *const actions[] = {"list", "show", "run", "report", "claims", "fill", "cell", "urls", "one-run"};
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(word, actions[i]) == 0)
            return true;
    return false;
}

static int check_options(const lab_options *options, const char *action);

static int act(lab_options *options, cli_words words)
{
    if (words.count == 0)
        return cli_error("'vidi lab' needs one of " ACTIONS);
    const char *action = words.list[0];
    cli_words rest = {words.list + 1, words.count - 1};
    if (!is_action(action))
        return cli_error("'vidi lab' knows " ACTIONS ", not '%s'", action);
    CLI_TRY(check_options(options, action));
    set_defaults(options);
    if (strcmp(action, "show") == 0)
        return show(rest);
    if (strcmp(action, "fill") == 0)
        return lab_fill_action(rest, options->file);
    CLI_TRY(take_files(options, &rest));
    if (strcmp(action, "run") == 0)
        return measure_and_print(options, rest);
    if (strcmp(action, "cell") == 0)
        return measure_cell(options, rest);
    if (strcmp(action, "report") == 0)
        return measure_and_report(options, rest);
    if (strcmp(action, "claims") == 0)
        return lab_measure_claims(options, rest);
    if (strcmp(action, "one-run") == 0)
        return lab_one_run(options, rest);
    if (rest.count > 0)
        return cli_error("'vidi lab %s' takes no '%s'", action, rest.list[0]);
    return action[0] == 'l' ? print_list() : print_urls(options);
}

static const lab_options not_given = {.precision = -1};

#define FIELD(name) offsetof(lab_options, name)

static const cli_option options_table[] = {
    {"runs", 0, CLI_COUNT, FIELD(runs), "N", "Most runs to make, each with new URLs and salts [100]", NULL, UINT32_MAX},
    {"precision", 0, CLI_AMOUNT, FIELD(precision), "P", "Runs until intervals are within P % of a value [5]",
     "The number of runs is fixed ahead: by theory, or by the first ten runs of a study. Tables that claims rest on "
     "get "
     "as many runs as the claims' margins need. With 0, all runs are made.",
     0},
    {"urls", 0, CLI_COUNT, FIELD(urls), "N", "URLs to insert; as many others are looked up [1e6]", NULL, UINT32_MAX},
    {"seed", 0, CLI_COUNT, FIELD(seed), "S", "Seed that all URLs and salts are made from [1]", NULL, 0},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", "Runs at the same time [processors, at most 8]",
     "A run of 1e6 URLs needs a third of a gigabyte. The results are the same for any number of threads.", 256},
    {"corpus", 0, CLI_TEXTS, FIELD(files), "FILE", "Use real URLs from files, one per line",
     "They replace the synthetic URLs. May be given several times, or with several files; '-' means standard input. "
     "Files packed with gzip, "
     "zstd, xz or bzip2 are unpacked. Repeats and lines of more than 216 bytes are left out. Runs need twice as many "
     "different URLs as --urls says, and half as many more where URLs are deleted.",
     0},
    {"streams", 0, CLI_TEXTS, FIELD(stream_files), "FILE", "Measure 'streams-...' with these files of URLs",
     "Each file is a stream: its lines in their order, with repeats, as a crawler met them. Of each file the first "
     "lines are read, as many as --urls says. May be given several times, or with several files; packed files are "
     "unpacked as for --corpus. Results have the names of the files, without folder and ending, but no URL and no "
     "host.",
     0},
    {"graph", 0, CLI_TEXTS, FIELD(graph_files), "FILE", "graph-*: also crawl the link graph in this file",
     "Each line has the URL of a page, a tab, and one link of that page, which may be relative to it; a line without a "
     "tab is a page without links. May be given several times; '-' means standard input. Packed files are unpacked.",
     0},
    {"fresh", 0, CLI_FLAG, FIELD(fresh), NULL, "Start over, ignoring runs kept by an earlier command", NULL, 0},
    {"csv", 0, CLI_FLAG, FIELD(csv), NULL, "Print CSV: one line per cell, rates in per cent", NULL, 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print an array of objects", NULL, 0},
    {"raw", 0, CLI_FLAG, FIELD(raw), NULL, "Print the counts of every run, as CSV", NULL, 0},
    {"output", 'o', CLI_TEXT, FIELD(file), "FILE", "report, fill: write it to this file [standard output]", NULL, 0},
    {"plots", 0, CLI_TEXT, FIELD(plots), "FOLDER", "report: also write each plot to FOLDER/ID.svg", NULL, 0},
    {"tables", 0, CLI_TEXT, FIELD(tables), "FILE", "report: also write all figures to this file, as CSV", NULL, 0},
    {"fill", 0, CLI_TEXTS, FIELD(fill), "IN=OUT", "report: also fill a text with the figures",
     "The text of the file IN goes to OUT, with figures in the place of {{ID|ROW|COLUMN}}. May be given several times. "
     "'vidi lab fill IN TABLES' does the same later, with a file that --tables wrote.",
     0},
    {"run", 0, CLI_COUNT, FIELD(run), "R", "urls: number of the run [1]", NULL, UINT32_MAX},
    {"kind", 0, CLI_TEXT, FIELD(kind), "NAME", "cell: classic, spatial or counting [as --filters says]", NULL, 0},
    {"hash", 0, CLI_TEXT, FIELD(hash), "NAME", "cell: hash function, a+b, or a|b by filter [jenkins]",
     "One function is salted. With a+b there are different functions without salts, and with a|b the filters, crawl by "
     "crawl, have functions of their own.",
     0},
    {"k", 0, CLI_COUNT, FIELD(k), "K", "cell: positions per URL [3]", NULL, 64},
    {"multiplier", 0, CLI_REAL, FIELD(multiplier), "M", "cell: M in bits = URLs * K * M [2]", NULL, 0},
    {"filters", 0, CLI_COUNT, FIELD(filters), "F", "cell: filters side by side [1]", NULL, 8},
    {"crawls", 0, CLI_COUNT, FIELD(crawls), "E", "cell: number of crawls, each with its own salts [1]", NULL, 4},
    {"incremental", 0, CLI_FLAG, FIELD(incremental), NULL, "cell: look up each URL before it is inserted", NULL, 0},
    {"shuffled", 0, CLI_FLAG, FIELD(shuffled), NULL, "cell: incremental, later crawls in another order", NULL, 0},
    CLI_OPTIONS_END,
};

/* The actions that take an option, as text for a message. */
static const char *takers(const char *option)
{
    static const struct {
        const char *option, *actions;
    } others[] = {
        {"urls", "run, report, claims, cell and urls"},
        {"seed", "run, report, claims, cell and urls"},
        {"corpus", "run, report, claims, cell and urls"},
        {"streams", "run, report and claims"},
        {"graph", "run, report and claims"},
        {"csv", "run, claims and cell"},
        {"json", "run, claims and cell"},
        {"raw", "run and cell"},
        {"output", "report and fill"},
        {"plots", "report"},
        {"tables", "report"},
        {"fill", "report"},
        {"run", "urls"},
        {"kind", "cell"},
        {"hash", "cell"},
        {"k", "cell"},
        {"multiplier", "cell"},
        {"filters", "cell"},
        {"crawls", "cell"},
        {"incremental", "cell"},
        {"shuffled", "cell"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(option, others[i].option) == 0)
            return others[i].actions;
    return "run, report, claims and cell";
}

/* An option that the action would ignore is an error: 'run -o FILE' writes no file, and 'run --k 7' does not use 7. */
static int check_options(const lab_options *options, const char *action)
{
    for (const cli_option *option = options_table; strcmp(option->name, "help") != 0; option++)
        if (cli_option_is_given(option, options, &not_given) && !strstr(takers(option->name), action) &&
            strcmp(action, "one-run") != 0)
            return cli_error("--%s is not an option of 'vidi lab %s', only of %s", option->name, action,
                             takers(option->name));
    return CLI_OK;
}

static const cli_command lab_command = {
    .name = "lab",
    .summary = "Repeat the papers' experiments and compare with theory",
    .usage = "vidi lab list|show|run|report|claims|fill|cell|urls [ID]... [OPTION]...",
    .about = "Repeats the experiments of the papers with vidi's filters and compares the results with theory and the "
             "published figures.",
    .details =
        "'list' names the experiments, 'show' describes the cells of one, 'run' measures the named ones, or "
        "all. 'report' measures them too and writes one HTML file with the claims of the papers, all tables and "
        "plots. 'claims' measures what the named claims rest on, or all, and prints whether they hold. Names may "
        "be patterns, such as 'thesis-5.*'. 'fill IN TABLES' fills a text with the figures of a report. 'cell' "
        "measures a configuration that is in no table. 'urls' prints the "
        "URLs of a run: the first "
        "half is inserted, the second half is only looked up.\n"
        "Rates are in per cent. Intervals have a confidence of 95 %. The verdict judges the published figure. "
        "'agrees': it fits theory, within rounding and the chance of as many independent runs, at most 100, as "
        "the scatter of its table's other figures suggests. 'dependent': it fits only if runs without salts were "
        "not independent. 'doubtful': it is 3 to 4.1 standard deviations from theory. 'anomalous': it is "
        "farther. 'misprint': an overview differs from the table that it repeats. 'differs': it is not what we "
        "measured, and chance "
        "plays no part. 'measured': no figure was published. 'fails': our own measurement does not fit theory. "
        "'not built': this build lacks what it needs.\n"
        "Each time is measured in several processes, one for each run, because the layout of a process in memory "
        "changes its times.\n"
        "If 'run', 'report', 'claims' or 'cell' is interrupted, give the same command again: it continues where it "
        "stopped and prints the same numbers as without the interruption. Finished runs are kept in "
        "$XDG_CACHE_HOME/vidi or ~/.cache/vidi until the results are "
        "printed.\n"
        "The exit status is 0, or 2 after an error. It is 1 if 'run' or 'cell' found that cells contradict "
        "theory: Holm's test of all cells together, which rejects by chance once in a hundred times.",
    .examples = "  vidi lab run thesis-5.9 --runs 3\n"
                "  vidi lab run 'thesis-5.*' --csv > tables.csv\n"
                "  vidi lab claims 'kinds-*' --runs 10\n"
                "  vidi lab report --runs 3 -o lab.html\n"
                "  vidi lab cell --k 7 --multiplier 1.44 --filters 2\n"
                "  vidi lab urls --run 2 --urls 10\n"
                "  vidi lab run thesis-5.9 --urls 100000 --corpus crawl-*.gz\n"
                "  vidi lab run streams-8 --streams crawl-*.gz\n",
    .options = options_table,
    .operand = "ID",
};

const cli_command *const cli_commands[] = {NULL};

static int run(cli_words words)
{
    lab_options options = not_given;
    int status = cli_options_parse(&lab_command, &words, &options);
    if (status == CLI_GO_ON)
        status = act(&options, words);
    lab_options_end(&options, status);
    return status;
}

int main(int argc, char **argv)
{
    return cli_program(argc, argv, run);
}
