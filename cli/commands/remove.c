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
    cli_write_options write;
    bool null, quiet, stats, json;
    cli_server_options server;
} remove_options;

static int check_kind(const cli_target *target, const char *path)
{
    vidi_stats stats = {.size = sizeof stats};

    CLI_TRY(cli_target_status(target, cli_target_stat(target, &stats, NULL)));
    return stats.can & VIDI_CAN_DELETE ? CLI_OK : cli_state_cannot(path, &stats, VIDI_CAN_DELETE, "remove URLs");
}

/* ---- results ---- */

static int report_run(const cli_job *job, const remove_options *options, const char *path)
{
    cli_report report;
    cli_shown shown;
    cli_number number, other;
    int status = cli_job_report(job, &report);

    if (status != CLI_OK)
        return status;
    /* Verdicts are answers from before the change: a URL that was seen is removed now, and a new one was not there. */
    const uint64_t removed = report.seen, absent = report.fresh;
    if (!options->quiet)
        status = cli_print_result("%s: %s removed, %s not there\n", cli_shown_path(&shown, path),
                                  cli_human_urls(&number, removed), cli_human_count(&other, absent));
    const cli_figure figures[] = {
        {"read", "lines read", CLI_IS_COUNT, .count = report.read},
        {"removed", "removed", CLI_IS_COUNT, .count = removed},
        {"absent", "not there", CLI_IS_COUNT, .count = absent},
        {"invalid", "invalid", CLI_IS_COUNT, .count = report.invalid},
        {"bytes_in", "bytes in", CLI_IS_COUNT, .count = report.bytes},
        {"seconds", "seconds", CLI_IS_SECONDS, .real = report.seconds},
        {"urls_per_second", "URLs/s", CLI_IS_REAL, .real = cli_report_rate(&report)},
        {"count", "URLs left", CLI_IS_COUNT, .count = report.set.count},
        {"kind", "kind", CLI_IS_TEXT, .text = report.set.kind},
        {"epoch", "epoch", CLI_IS_COUNT, .count = report.set.epoch},
    };
    if (status != CLI_OK || !(options->stats || options->json))
        return status;
    return cli_figures_print(figures, sizeof figures / sizeof *figures, options->json);
}

/* ---- the command ---- */

/* On a server, a removal takes effect at once. */
static int open_target(cli_job *job, const remove_options *options, const char *path, uint32_t invalid)
{
    cli_opening opening = {.flags = VIDI_MANUAL_COMMIT, .invalid = invalid};
    cli_server_use use = {.invalid = invalid};

    CLI_TRY(cli_server_check(path, &options->server));
    job->commits = !cli_is_address(path);
    if (job->commits)
        return cli_state_open_to_write(&job->target.here, path, &options->write, opening);
    CLI_TRY(cli_write_check_address(&options->write));
    return cli_server_open(&job->target.away, path, &options->server, &use);
}

static int remove_run(cli_job *job, const remove_options *options, cli_words words)
{
    const char *path = words.list[0];
    uint32_t invalid;

    if (cli_invalid_parse(options->invalid, &invalid) != CLI_OK ||
        cli_extract_init(&job->extract, &options->extract, invalid) != CLI_OK)
        return CLI_ERROR;
    if (options->quiet)
        cli_warnings_off();
    int status = open_target(job, options, path, invalid);
    if (status == CLI_OK)
        status = check_kind(&job->target, path);
    if (status != CLI_OK)
        return status;
    job->action = CLI_REMOVE;
    job->fails_invalid = invalid == VIDI_FAIL_INVALID;
    job->printer.what = CLI_PRINT_NOTHING;
    job->printer.end = options->null ? 0 : '\n';
    job->limit = cli_line_limit_of(options->max_line, 0);
    job->threads = 1;
    status = cli_job_run(job, (cli_words){words.list + 1, words.count - 1});
    if (status == CLI_OK) /* otherwise the last removals may not be committed */
        status = report_run(job, options, path);
    return job->signal ? CLI_SIGNAL + job->signal : status;
}

static int run(void *values, cli_words words)
{
    cli_job job;

    cli_job_init(&job);
    int status = remove_run(&job, values, words);
    cli_job_free(&job);
    cli_target_close(&job.target);
    return status;
}

#define FIELD(name) offsetof(remove_options, name)

static const cli_option options_table[] = {
    CLI_NULL_OPTIONS(remove_options),
    {"max-line", 0, CLI_BYTES, FIELD(max_line), "SIZE", CLI_MAX_LINE_SUMMARY,
     "Without this option, lines may have any length.", 0},
    CLI_EXTRACT_OPTIONS(remove_options),
    {"invalid", 0, CLI_TEXT, FIELD(invalid), "WHAT", CLI_INVALID_SUMMARY,
     "They are removed like URLs (a state may keep such lines), skipped, or end the run with an "
     "error.",
     0},
    CLI_WRITE_OPTIONS(remove_options),
    CLI_STATS_OPTIONS(remove_options, NULL),
    CLI_REPLICA_OPTION(offsetof(remove_options, server)),
    CLI_SERVER_OPTIONS(offsetof(remove_options, server)),
    {"quiet", 'q', CLI_FLAG, FIELD(quiet), NULL, "Print no result and no warnings, only errors", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_remove = {
    .name = "remove",
    .summary = "Remove URLs from a state",
    .usage = "vidi remove [OPTION]... STATE [FILE]...",
    .about = "Reads URLs, one per line, and removes them from a state, so that they are new again.",
    .details =
        "Reads the files one after the other, or standard input if no file is given; '-' means standard input too. "
        "Prints "
        "how many URLs were removed, and how many were not there. A URL may be spelled in any way that has the same "
        "canonical form. In a state that counts (multiset=on), each line takes away one of the times that its URL was "
        "added.\n"
        "Remove only URLs that this state has answered 'new' for. A state that keeps hashes sometimes mistakes a new "
        "URL for one that it has seen; removing such a URL would remove another one instead, which would then be new "
        "again.\n"
        "STATE is a folder, or the address of a set on a server, such as redis://localhost/crawl. What is reported as "
        "removed is on disk, or has reached the server. If the command is killed, run it again: it removes the rest, "
        "and "
        "counts what was already removed as not there. 'vidi kinds' shows which kinds can remove URLs.\n"
        "The exit status is 0, also if some URLs were not there, or 2 after an error.",
    .examples = "  vidi remove crawl.vidi failed.txt\n"
                "  grep ' 503$' fetch.log | vidi remove -f 1 -d ' ' crawl.vidi\n",
    .options = options_table,
    .size = sizeof(remove_options),
    .operand = "STATE",
    .least = 1,
    .run = run,
};
