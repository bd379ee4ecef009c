/*
 * vidi has: prints the lines that a state has seen. It never adds, and another process may be writing to the state.
 */
#include <string.h>
#include <unistd.h>

#include "pipeline/options/canon_options.h"
#include "pipeline/job.h"
#include "ui/options.h"
#include "pipeline/options/set_options.h"

typedef struct has_options {
    cli_extract_options extract;
    const char *invalid, *print;
    uint64_t threads, max_line;
    bool inverted, quiet, null, stats, json, line_buffered;
    cli_server_options server;
} has_options;

static int report_run(const cli_job *job, const has_options *options)
{
    cli_report report;
    CLI_TRY(cli_job_report(job, &report));
    return options->json || options->stats ? cli_report_print(&report, options->json) : CLI_OK;
}

static int read_options(cli_job *job, const has_options *options)
{
    uint32_t invalid;

    if (cli_invalid_parse(options->invalid, &invalid) != CLI_OK ||
        cli_extract_init(&job->extract, &options->extract, invalid) != CLI_OK ||
        cli_print_parse(options->print, &job->printer.what) != CLI_OK)
        return CLI_ERROR;
    if (options->print && options->quiet)
        return cli_error("--print and --quiet exclude each other: --quiet prints nothing");
    if (job->printer.what == CLI_PRINT_VERDICT && options->inverted)
        return cli_error("--print verdict answers every line, so leave out --invert");
    if (options->quiet)
        job->printer.what = CLI_PRINT_NOTHING;
    job->printer.wanted = options->inverted ? VIDI_NEW : VIDI_SEEN;
    job->printer.end = options->null ? 0 : '\n';
    job->eager = options->line_buffered;
    job->limit = cli_line_limit_of(options->max_line, 0);
    job->threads = options->threads;
    return CLI_OK;
}

static int open_target(cli_target *target, const char *state, const has_options *options)
{
    cli_server_use reading = {.flags = VIDI_READ_ONLY};

    CLI_TRY(cli_server_check(state, &options->server));
    if (!cli_is_address(state))
        return cli_state_ask(&target->here, state, options->invalid);
    CLI_TRY(cli_invalid_parse(options->invalid, &reading.invalid));
    return cli_server_open(&target->away, state, &options->server, &reading);
}

static int has_run(cli_job *job, const has_options *options, cli_words words)
{
    CLI_TRY(read_options(job, options));
    CLI_TRY(open_target(&job->target, words.list[0], options));
    job->printer.form = cli_target_canon(&job->target);
    int status = cli_job_run(job, (cli_words){words.list + 1, words.count - 1});
    if (status == CLI_OK)
        status = report_run(job, options);
    if (job->signal)
        return CLI_SIGNAL + job->signal;
    return status == CLI_OK && job->seen < job->read ? CLI_UNSEEN : status;
}

static int run(void *values, cli_words words)
{
    cli_job job;

    cli_job_init(&job);
    int status = has_run(&job, values, words);
    cli_job_free(&job);
    cli_target_close(&job.target);
    return status;
}

#define FIELD(name) offsetof(has_options, name)

static const cli_option options_table[] = {
    {"invert", 'v', CLI_FLAG, FIELD(inverted), NULL, "Print the lines that were not seen", NULL, 0},
    {"quiet", 'q', CLI_FLAG, FIELD(quiet), NULL, "Print nothing; only set the exit status", NULL, 0},
    {"print", 0, CLI_TEXT, FIELD(print), "WHAT", CLI_PRINT_SUMMARY, CLI_PRINT_DETAILS, 0},
    CLI_NULL_OPTIONS(has_options),
    {"max-line", 0, CLI_BYTES, FIELD(max_line), "SIZE", CLI_MAX_LINE_SUMMARY,
     "Without this option, lines may have any length.", 0},
    CLI_EXTRACT_OPTIONS(has_options),
    {"invalid", 0, CLI_TEXT, FIELD(invalid), "WHAT", CLI_INVALID_SUMMARY,
     "They are compared byte by byte, count as not seen and are left out, or end the run with an error.", 0},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", CLI_THREADS_SUMMARY, NULL, 1024},
    {"line-buffered", 0, CLI_FLAG, FIELD(line_buffered), NULL, "Write output without waiting for more lines", NULL, 0},
    CLI_STATS_OPTIONS(has_options, NULL),
    CLI_SERVER_OPTIONS(offsetof(has_options, server)),
    CLI_OPTIONS_END,
};

const cli_command cli_has = {
    .name = "has",
    .summary = "Print which URLs a state has seen",
    .usage = "vidi has [OPTION]... STATE [FILE]...",
    .about = "Reads URLs, one per line, and prints those that a state has seen, unchanged and in order. Nothing is "
             "remembered.",
    .details = "Reads the files one after the other, or standard input if no file is given; '-' means standard input "
               "too. STATE is a folder, a file that 'vidi export' wrote, or the address of a set on a server, such as "
               "redis://localhost/crawl. Another process may be writing to the folder; URLs that it adds after this "
               "command has opened the state count as not seen. On a server, URLs count as not seen as long as they "
               "are only claimed.\n"
               "The exit status is 0 if all URLs were seen, 1 if at least one was not, or 2 after an error.",
    .examples = "  vidi has crawl.vidi urls.txt\n"
                "  vidi has -v crawl.vidi urls.txt > not-seen.txt\n"
                "  echo http://example.com/ | vidi has -q crawl.vidi && echo seen\n",
    .options = options_table,
    .size = sizeof(has_options),
    .operand = "STATE",
    .least = 1,
    .run = run,
};
