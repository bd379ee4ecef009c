/*
 * vidi [dedup]: prints each line the first time its URL is seen, unchanged and in input order. URLs with the same
 * canonical form count as one.
 *
 * This file reads the options and checks their combinations; job.c does the work, and set_options.c makes the set.
 * Statistics are printed after all output.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/options/canon_options.h"
#include "pipeline/job.h"
#include "ui/options.h"
#include "pipeline/options/set_options.h"
#include "pipeline/state.h"

typedef struct dedup_options {
    cli_set_options set;
    cli_extract_options extract;
    const char *print, *color, *output, *ack;
    uint64_t threads, max_line;
    bool output_new, seen, null, quiet, stats, json, progress, line_buffered, strict, version;
} dedup_options;

/*
 * --seen prints the repeats and leaves out the new URLs. A state that remembered those would lose them,
 * because they were never printed. So with a state it is a dry run.
 */
static int imply_dry_run(dedup_options *options)
{
    if (!options->seen || !options->set.state || options->set.dry_run)
        return CLI_OK;
    if (options->set.epoch || options->set.wait)
        return cli_error("--seen with --state is a dry run, which changes and locks nothing; leave out %s",
                         options->set.epoch ? "--epoch" : "--wait");
    options->set.dry_run = true;
    return CLI_OK;
}

/* A dry run must not touch the file that holds the output of a state, and there is nothing to acknowledge. */
static int refuse_in_dry_run(const dedup_options *options)
{
    const char *why = options->seen ? "--seen with --state is a dry run" : "a dry run remembers nothing";

    if (options->ack)
        return cli_error("%s, so leave out --ack", why);
    return cli_error("%s, and leaves the output file alone; instead of --output, redirect with '> FILE'", why);
}

/* Checks the options that concern the output, before anything is opened. */
static int check_output(const dedup_options *options, cli_words files)
{
    const char *state = options->set.state, *number = options->ack;

    if (options->output_new && (!options->output || !state))
        return cli_error("--output-new needs --output and --state; without a state, --output begins a new file anyway");
    if (options->ack && !state)
        return cli_error("--ack needs --state: what is acknowledged is remembered there");
    if (state && options->set.dry_run && (options->ack || options->output))
        return refuse_in_dry_run(options);
    bool from_stdin = files.count == 0;
    for (size_t i = 0; i < files.count; i++)
        from_stdin = from_stdin || strcmp(files.list[i], "-") == 0;
    if (number && from_stdin && *number && number[strspn(number, "0")] == 0)
        return cli_error("--ack 0 is standard input, from which the URLs are read");
    return options->output ? cli_output_check(options->output, files) : CLI_OK;
}

/* How the lines of the output file can be read again. */
static cli_output_lines lines_of(const cli_job *job)
{
    bool whole = job->printer.what == CLI_PRINT_LINE;

    return (cli_output_lines){.answers = job->printer.what == CLI_PRINT_VERDICT,
                              .header = whole && job->extract.header,
                              .end = job->printer.end,
                              .extract = whole ? &job->extract : NULL};
}

/* Opens the output file, if one is wanted. */
static int open_output(cli_job *job, const cli_sets *sets, const dedup_options *options)
{
    cli_shown shown;
    cli_output_terms terms = {.target = &job->target,
                              .state = cli_shown_path(&shown, options->set.state),
                              .owner = sets->owner,
                              .lines = lines_of(job),
                              .fresh = options->output_new,
                              .wait = options->set.wait,
                              .syncs = job->delivery.syncs};

    if (!options->output)
        return CLI_OK;
    return sets->durable ? cli_output_resume(&job->delivery.file, options->output, &terms)
                         : cli_output_replace(&job->delivery.file, options->output);
}

static int read_options(cli_job *job, const dedup_options *options)
{
    uint32_t invalid;

    if (cli_color_set(options->color) != CLI_OK || cli_invalid_parse(options->set.invalid, &invalid) != CLI_OK ||
        cli_extract_init(&job->extract, &options->extract, invalid) != CLI_OK)
        return CLI_ERROR;
    CLI_TRY(cli_print_parse(options->print, &job->printer.what));
    if (job->printer.what == CLI_PRINT_VERDICT && (options->seen || options->set.counts))
        return cli_error("--print verdict answers every line, so leave out %s", options->seen ? "--seen" : "--count");
    if (options->quiet)
        cli_warnings_off();
    if (options->set.lost >= 0 && !options->set.capacity && !options->set.memory && !options->strict)
        cli_warning("--lost has no effect alone; give --capacity or --memory to plan for it, or --strict to check it");
    job->action = CLI_ADD;
    job->printer.wanted = options->seen ? VIDI_SEEN : VIDI_NEW;
    job->printer.counts = options->set.counts;
    job->printer.repeats_only = options->seen;
    job->printer.end = options->null ? 0 : '\n';
    job->eager = options->line_buffered;
    job->limit = cli_line_limit_of(options->max_line, options->set.memory);
    job->threads = options->threads;
    bool hidden = options->output || !isatty(STDOUT_FILENO); /* the output does not get in the way of a progress line */
    job->progress = options->progress || (!options->quiet && isatty(STDERR_FILENO) && hidden);
    job->delivery.syncs = !options->set.sync || strcmp(options->set.sync, "never") != 0;
    return CLI_OK;
}

/* Prints the warnings and statistics at the end of a run on stderr. */
static int report_run(const cli_job *job, const dedup_options *options)
{
    cli_report report;
    int status = cli_job_report(job, &report);

    if (status != CLI_OK)
        return status;
    if (!options->strict)
        cli_report_warn(&report);
    if (options->json || options->stats)
        status = cli_report_print(&report, options->json);
    int strict = options->strict ? cli_report_strict(&report, options->set.lost) : CLI_OK;
    return status != CLI_OK ? status : strict;
}

static int dedup_run(cli_job *job, cli_sets *sets, dedup_options *options, cli_words files)
{
    int status = read_options(job, options);

    if (status == CLI_OK)
        status = imply_dry_run(options);
    if (status == CLI_OK)
        status = check_output(options, files);
    if (status == CLI_OK && options->ack) /* first: a file that we open could get the number that the user means */
        status = cli_acks_open(&job->delivery.acks, options->ack);
    if (status == CLI_OK)
        status = cli_sets_open(sets, &options->set);
    job->target = sets->target;
    job->also = sets->also;
    job->commits = sets->durable;
    job->live.path = sets->durable && sets->target.here ? options->set.state : NULL;
    job->printer.form = cli_target_canon(&sets->target);
    if (status == CLI_OK)
        status = open_output(job, sets, options);
    if (status != CLI_OK)
        return status;
    status = cli_job_run(job, files);
    if (status != CLI_PIPE && job->before.size) {
        int reported = report_run(job, options);
        status = status != CLI_OK ? status : reported;
    }
    return job->signal ? CLI_SIGNAL + job->signal : status;
}

static int run(void *values, cli_words words)
{
    dedup_options *options = values;
    cli_job job;
    cli_sets sets = {0};

    if (options->version)
        return cli_version_print();
    cli_job_init(&job);
    int status = dedup_run(&job, &sets, options, words);
    cli_job_free(&job);
    cli_sets_close(&sets);
    return status;
}

#define FIELD(name) offsetof(dedup_options, name)

static const cli_option options_table[] = {
    {"state", 's', CLI_TEXT, FIELD(set.state), "STATE", "Remember the URLs in this folder, from run to run",
     "The folder is created if it does not exist. A URL is remembered only after its line was delivered, however the "
     "program ends; use it with --output. 'vidi top' watches the run. STATE may also be the address of a set on a "
     "Redis "
     "or Valkey server or cluster, such as redis://localhost/crawl, which many runs share; 'vidi init' makes it.",
     0},
    {"output", 'o', CLI_TEXT, FIELD(output), "FILE", "Write to this file; with --state, append to it",
     "Recommended with --state: the state remembers how long the file was, together with the URLs. After a crash, a "
     "kill or a full disk, the next run cuts off what was not remembered, such as a torn line, and keeps it in the "
     "folder of the state. A file that was changed or replaced meanwhile is an error. A header is written only at the "
     "beginning of the file. Without --state, the file is emptied first.",
     0},
    {"output-new", 0, CLI_FLAG, FIELD(output_new), NULL, "Begin a new --output file for the state",
     "The file must be absent or empty. Needed when the file of the last run was moved away.", 0},
    {"ack", 0, CLI_TEXT, FIELD(ack), "PATH|FD", "Remember only what the consumer acknowledges here",
     "From this FIFO or file descriptor, vidi reads one number per line: how many lines of output, counted from the "
     "first, are done. The number never decreases. At the end vidi waits for the rest; if the acknowledgements end "
     "before that, the rest is not remembered, and the exit status is 4.",
     0},
    {"wait", 0, CLI_FLAG, FIELD(set.wait), NULL, CLI_WAIT_SUMMARY, CLI_WAIT_DETAILS, 0},
    {"accept-damage", 0, CLI_FLAG, FIELD(set.accepts), NULL, CLI_DAMAGE_SUMMARY, CLI_DAMAGE_DETAILS, 0},
    {"like", 0, CLI_TEXT, FIELD(set.like), "STATE2", "Copy the settings of another state, to merge them later",
     "The new state gets the other's kind, size, key and canonical form.", 0},
    {"key-from", 0, CLI_TEXT, FIELD(set.key_from), "STATE2", "Use the secret key of another state, to merge them later",
     "States of the same kind, parameters and canonical form can be merged if they were created under one key.", 0},
    {"key-file", 0, CLI_TEXT, FIELD(set.key_file), "FILE", "Use the secret key in FILE, to merge states later",
     "FILE has 32 hexadecimal digits, as 'openssl rand -hex 16' prints them. Whoever knows the key can choose which "
     "pages are lost.",
     0},
    {"dry-run", 'n', CLI_FLAG, FIELD(set.dry_run), NULL, "Print the same output, but remember nothing",
     "Another process may be writing to the state at the same time.", 0},
    {"seen", 'D', CLI_FLAG, FIELD(seen), NULL, "Print the repeats instead of the new URLs",
     "With --state this implies --dry-run: the new URLs are not printed, so they are not remembered either.", 0},
    {"count", 'c', CLI_FLAG, FIELD(set.counts), NULL, "At the end, print how often each URL appeared",
     "The format is that of 'uniq -c', in order of first appearance; with --seen, only URLs that appeared more than "
     "once are printed. Keeps every URL in memory.",
     0},
    {"print", 0, CLI_TEXT, FIELD(print), "WHAT", CLI_PRINT_SUMMARY, CLI_PRINT_DETAILS, 0},
    CLI_NULL_OPTIONS(dedup_options),
    CLI_EXTRACT_OPTIONS(dedup_options),
    {"canon", 0, CLI_TEXT, FIELD(set.canon), "P", CLI_CANON_SUMMARY,
     CLI_CANON_DETAILS " Lines with the same canonical form count as one; with 'none', lines need not be URLs.", 0},
    {"key", 0, CLI_TEXT, FIELD(set.key), "WHAT", "Print one line per url, host or site [url]",
     "'host' and 'site' are short for --canon key=host and --canon key=site.", 0},
    {"tracking", 0, CLI_TEXT, FIELD(set.tracking), "FILE", CLI_TRACKING_SUMMARY, CLI_TRACKING_DETAILS, 0},
    {"invalid", 0, CLI_TEXT, FIELD(set.invalid), "WHAT", CLI_INVALID_SUMMARY,
     "They are compared byte by byte, left out, or end the run with an error.", 0},
    {"capacity", 0, CLI_COUNT, FIELD(set.capacity), "N", "Number of different URLs to expect",
     "A number like 1000000, 2.5e6 or 100M. Kinds that cannot grow need it. If they get more URLs than that, they go "
     "on but lose more and more pages, and a warning at the end says so.",
     0},
    {"lost", 0, CLI_AMOUNT, FIELD(set.lost), "L", "Number of pages that may be lost; 0: none",
     "With --capacity or --memory, uses the best plan that expects to lose no more (see 'vidi plan'). --strict checks "
     "it at the end.",
     0},
    {"memory", 0, CLI_BYTES, FIELD(set.memory), "SIZE", "Memory for the set, like 500M, 2GiB or 2GB",
     "G and GiB are 2^30 bytes, GB is 10^9; K, M and T likewise. With --capacity, --lost or --error, uses the best "
     "plan that fits. Alone it is a limit: the run ends with an error when the set would exceed it. Lines may have a "
     "sixteenth of it, or 1 MiB if that is more, unless --max-line says otherwise.",
     0},
    {"max-line", 0, CLI_BYTES, FIELD(max_line), "SIZE", CLI_MAX_LINE_SUMMARY,
     "Without this option and without --memory, lines may have any length.", 0},
    {"error", 0, CLI_PROBABILITY, FIELD(set.error), "E", "Probability of mistaking a new URL for seen [1e-6]",
     "This is the rate when the set is full. With --capacity, and without --kind, uses the best plan that keeps to it.",
     0},
    {"kind", 0, CLI_TEXT, FIELD(set.kind), "NAME", "Kind of set to remember the URLs in",
     "'vidi kinds' lists them, the default first. Exact kinds such as hashset lose nothing and keep every URL in "
     "memory; the others need a few bytes per URL and lose a page now and then.",
     0},
    {"param", 0, CLI_PAIRS, FIELD(set.params), "NAME=VALUE", "Parameter of the kind; may be given several times",
     "For example '--kind classic --param k=7'.", 0},
    {"epoch", 0, CLI_TEXT, FIELD(set.epoch), "new", "First start a new epoch, in which no URL is seen", NULL, 0},
    {"sync", 0, CLI_TEXT, FIELD(set.sync), "WHEN", "Sync the state: always, everysec or never [everysec]",
     "After each commit, once a second, or when the kernel decides. Output that goes to a file is synced before each "
     "commit, except with never.",
     0},
    {"strict", 0, CLI_FLAG, FIELD(strict), NULL, "Exit with 3 if --capacity or --lost was exceeded", NULL, 0},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", CLI_THREADS_SUMMARY,
     "A run that changes a state uses at most 3. The output is the same.", 1024},
    {"line-buffered", 0, CLI_FLAG, FIELD(line_buffered), NULL, "Write output without waiting for more lines",
     "This is the default on terminals. Without it, output is still written before the program waits for more input.",
     0},
    CLI_REPLICA_OPTION(offsetof(dedup_options, set.server)),
    CLI_SERVER_OPTIONS(offsetof(dedup_options, set.server)),
    CLI_STATS_OPTIONS(dedup_options, "On SIGUSR1, prints the statistics so far."),
    {"progress", 0, CLI_FLAG, FIELD(progress), NULL, "Show a progress line on standard error",
     "This is the default if standard error is a terminal and standard output is not.", 0},
    {"quiet", 'q', CLI_FLAG, FIELD(quiet), NULL, "Show no progress and no warnings, only errors", NULL, 0},
    {"color", 0, CLI_TEXT, FIELD(color), "WHEN", "Colours on standard error: auto, always, never [auto]",
     "'auto' uses colours on a terminal, unless NO_COLOR is set.", 0},
    {"version", 0, CLI_FLAG, FIELD(version), NULL, "Print the version", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_dedup = {
    .name = "dedup",
    .summary = "Print each URL the first time it is seen; the default command",
    .usage = "vidi [dedup] [OPTION]... [FILE]...",
    .about = "Reads URLs, one per line, and prints each the first time it appears, unchanged and in order.",
    .details =
        "Reads the files one after the other, or standard input if no file is given; '-' means standard input too. "
        "Files packed with gzip, zstd, xz or bzip2 are unpacked. Lines may have any length and contain any byte. A "
        "carriage return before the end of a line is printed but is not part of the URL; a byte order mark at "
        "the start of a file is skipped. Different spellings of the same URL count as one: they have the same "
        "canonical form, which --canon selects. To read a file that has the same name as a command, write ./NAME.\n"
        "Kinds of set that are not exact sometimes mistake a new URL for one already seen and do not print it: that "
        "page is lost. --stats tells you how many pages are expected to have been lost.\n"
        "With --state, a URL is remembered when its line is: acknowledged, with --ack; in the file and synced, with "
        "--output; taken out of the pipe by its reader, if the output is a pipe; or else written. If the output is a "
        "pipe, vidi ends only when the pipe is empty or its reader has gone.\n"
        "If STATE is an address, a URL is first claimed on the server, so that of all runs exactly one prints it, and "
        "remembered when its line was delivered. A line whose URL another run has claimed is asked about again, until "
        "that run has delivered it or is known to be dead.\n"
        "The exit status is 0, 2 after an error, 3 with --strict if --capacity or --lost was exceeded, or 4 if the "
        "acknowledgements ended too early.",
    .examples = "  vidi urls.txt more.gz > new.txt\n"
                "  vidi -s crawl.vidi -o new.txt found.txt           new since earlier runs\n"
                "  tail -f links.log | vidi -s crawl.vidi | fetch\n"
                "  vidi -s redis://localhost/crawl links.txt | fetch  shared by machines\n"
                "  vidi --json-key url < pages.jsonl > once.jsonl\n"
                "  vidi --header -d , -f url pages.csv > once.csv\n"
                "  vidi --capacity 1e9 --lost 1 --stats < urls.txt > new.txt\n"
                "  vidi --kind hashset urls.txt                      no page lost, more memory\n"
                "  vidi --canon crawl --invalid drop < urls.txt      ignore tracking, sessions\n"
                "  vidi --canon none < lines.txt                     any lines, not only URLs\n"
                "  vidi plan --urls 1e9 --lost 1                     what will it cost?\n",
    .options = options_table,
    .size = sizeof(dedup_options),
    .defaults = &(const dedup_options){.set.lost = -1},
    .common = "state output dry-run seen count null field json-key canon invalid capacity lost kind stats json quiet "
              "version help",
    .operand = "FILE",
    .run = run,
};
