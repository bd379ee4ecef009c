/*
 * vidi remove: removes URLs from a state.
 *
 * What it reports as removed is committed. If it is killed in the middle, the URLs that were committed so far are
 * removed, and the same command once more removes the rest.
 */
#include <unistd.h>

#include "pipeline/options/canon_options.h"
#include "pipeline/job.h"
#include "pipeline/state.h"
#include "ui/options.h"

typedef struct remove_options {
    uint64_t max_line;
    cli_extract_options extract;
    const char *invalid;
    bool null, quiet, stats, json, wait, accepts;
} remove_options;

static int check_kind(const vidi_set *set, const char *path)
{
    vidi_stats stats;

    if (cli_state_stat(set, path, &stats) != CLI_OK)
        return CLI_ERROR;
    return stats.can & VIDI_CAN_DELETE ? CLI_OK : cli_state_cannot(path, &stats, VIDI_CAN_DELETE, "remove URLs");
}

/* ---- what came of it ---- */

static void count_row(cli_table *table, const char *label, uint64_t value)
{
    cli_number number;
    cli_table_cell(table, "%s", label);
    cli_table_cell(table, "%s", cli_human_count(&number, value));
}

static int print_table(const cli_report *report)
{
    cli_table table = {.layout = "ll"};
    cli_number number;
    cli_out err;

    count_row(&table, "lines read", report->read);
    count_row(&table, "removed", report->seen);
    count_row(&table, "not there", report->fresh);
    count_row(&table, "invalid", report->invalid);
    count_row(&table, "bytes in", report->bytes);
    cli_table_cell(&table, "seconds");
    cli_table_cell(&table, "%.3f", report->seconds);
    cli_table_cell(&table, "URLs/s");
    cli_table_cell(&table, "%s", cli_human_real(&number, cli_report_rate(report)));
    count_row(&table, "URLs left", report->set.count);
    cli_table_cell(&table, "kind");
    cli_table_cell(&table, "%s", report->set.kind);
    count_row(&table, "epoch", report->set.epoch);
    cli_out_init(&err, STDERR_FILENO);
    int status = cli_table_print(&table, &err), closed = cli_out_close(&err);
    return status == CLI_OK ? closed : status;
}

static int print_json(const cli_report *report)
{
    cli_out err;
    cli_json json = {&err, false};

    cli_out_init(&err, STDERR_FILENO);
    cli_json_open(&json, NULL, '{');
    cli_json_count(&json, "read", report->read);
    cli_json_count(&json, "removed", report->seen);
    cli_json_count(&json, "absent", report->fresh);
    cli_json_count(&json, "invalid", report->invalid);
    cli_json_count(&json, "bytes_in", report->bytes);
    cli_json_real(&json, "seconds", report->seconds);
    cli_json_real(&json, "urls_per_second", cli_report_rate(report));
    cli_json_count(&json, "count", report->set.count);
    cli_json_string(&json, "kind", report->set.kind);
    cli_json_count(&json, "epoch", report->set.epoch);
    cli_json_close(&json, '}');
    cli_out_text(&err, "\n");
    return cli_out_close(&err);
}

static int print_sentence(const cli_report *report, const char *path)
{
    cli_number removed, absent;
    cli_out out;

    cli_out_init(&out, STDOUT_FILENO);
    cli_out_format(&out, "%s: %s removed, %s not there\n", path, cli_human_urls(&removed, report->seen),
                   cli_human_count(&absent, report->fresh));
    return cli_out_close(&out);
}

static int report_run(const cli_job *job, const remove_options *options, const char *path)
{
    cli_report report;
    int status = cli_job_report(job, &report);

    if (status == CLI_OK && !options->quiet)
        status = print_sentence(&report, path);
    if (status == CLI_OK && options->json)
        return print_json(&report);
    return status == CLI_OK && options->stats ? print_table(&report) : status;
}

/* ---- the command ---- */

static int remove_run(cli_job *job, const remove_options *options, cli_words words)
{
    vidi_access access = VIDI_ACCESS_INIT;
    const char *path = words.list[0];

    if (cli_invalid_parse(options->invalid, &access.invalid) != CLI_OK ||
        cli_extract_init(&job->extract, &options->extract, access.invalid) != CLI_OK)
        return CLI_ERROR;
    if (options->quiet)
        cli_warnings_off();
    access.flags = VIDI_MANUAL_COMMIT | (options->accepts ? VIDI_ACCEPT_DAMAGE : 0);
    int status = cli_state_open_to_write(&job->set, path, &access, options->wait);
    if (status == CLI_OK)
        status = check_kind(job->set, path);
    if (status != CLI_OK)
        return status;
    job->action = CLI_REMOVE;
    job->fails_invalid = access.invalid == VIDI_FAIL_INVALID;
    job->commits = true;
    job->printer.what = CLI_PRINT_NOTHING;
    job->printer.end = options->null ? 0 : '\n';
    job->limit = cli_line_limit_of(options->max_line, 0);
    job->threads = 1;
    status = cli_job_run(job, (cli_words){words.list + 1, words.count - 1});
    if (status == CLI_OK) /* otherwise the last removals may not be committed */
        status = report_run(job, options, path);
    return job->signal ? CLI_SIGNAL + job->signal : status;
}

static int run(const cli_command *self, cli_words words)
{
    remove_options options = {0};
    cli_job job;
    int status = cli_options_parse(self, &words, &options);

    if (status != CLI_GO_ON)
        return status;
    if (cli_operands(self, words, 1, SIZE_MAX) != CLI_OK)
        return CLI_ERROR;
    cli_job_init(&job);
    status = remove_run(&job, &options, words);
    cli_job_free(&job);
    vidi_close(job.set);
    return status;
}

#define FIELD(name) offsetof(remove_options, name)

static const cli_option options_table[] = {
    {"null", 'z', CLI_FLAG, FIELD(null), NULL, "Lines end in NUL, not in newlines; -0 is the same", NULL, 0},
    {"null", '0', CLI_FLAG, FIELD(null), NULL, NULL, NULL, 0},
    {"max-line", 0, CLI_BYTES, FIELD(max_line), "SIZE", CLI_MAX_LINE_SUMMARY,
     "Without this option, lines may have any length.", 0},
    {"field", 'f', CLI_TEXT, FIELD(extract.field), "FIELD", CLI_FIELD_SUMMARY, CLI_FIELD_DETAILS, 0},
    {"delimiter", 'd', CLI_TEXT, FIELD(extract.delimiter), "C", CLI_DELIMITER_SUMMARY, CLI_DELIMITER_DETAILS, 0},
    {"header", 0, CLI_FLAG, FIELD(extract.header), NULL, CLI_HEADER_SUMMARY, CLI_HEADER_DETAILS, 0},
    {"json-key", 0, CLI_TEXT, FIELD(extract.json_key), "NAME", CLI_JSON_KEY_SUMMARY, CLI_JSON_KEY_DETAILS, 0},
    {"invalid", 0, CLI_TEXT, FIELD(invalid), "WHAT", CLI_INVALID_SUMMARY,
     "They are removed like URLs (a state may have been told to keep such lines), skipped, or end the run with an "
     "error.",
     0},
    {"wait", 0, CLI_FLAG, FIELD(wait), NULL, CLI_WAIT_SUMMARY, CLI_WAIT_DETAILS, 0},
    {"accept-damage", 0, CLI_FLAG, FIELD(accepts), NULL, CLI_DAMAGE_SUMMARY, CLI_DAMAGE_DETAILS, 0},
    {"stats", 0, CLI_FLAG, FIELD(stats), NULL, "Print statistics on standard error at the end", NULL, 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print the statistics as one line of JSON", "Implies --stats.", 0},
    {"quiet", 'q', CLI_FLAG, FIELD(quiet), NULL, "Print no result and no warnings, only errors", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_remove = {
    .name = "remove",
    .summary = "Remove URLs from a state",
    .usage = "vidi remove [OPTION]... STATE [FILE]...",
    .about = "Removes the lines (URLs) of files or standard input from a state, so that they are new again.",
    .details =
        "Reads the files one after the other, or standard input if there are none; '-' is standard input too. Prints "
        "how many URLs were removed, and how many were not there. A URL may be spelled in any way that has the same "
        "canonical form. In a state that counts (multiset=on), each line takes away one of the times that its URL was "
        "added.\n"
        "Remove only URLs that this state has answered 'new' for. A state that keeps hashes sometimes takes a new URL "
        "for one that it has seen; removing such a URL would remove another one instead, which would then be new "
        "again.\n"
        "What is reported as removed is on disk. If the command is killed, run it again: it removes the rest, and "
        "counts what was already removed as not there. 'vidi kinds' shows which kinds can remove URLs.\n"
        "The exit status is 0, also if some URLs were not there, or 2 after an error.",
    .examples = "  vidi remove crawl.vidi failed.txt\n"
                "  grep ' 503$' fetch.log | vidi remove -f 1 -d ' ' crawl.vidi\n",
    .options = options_table,
    .operand = "STATE",
    .run = run,
};
