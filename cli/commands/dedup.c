/*
 * vidi [dedup]: prints each line the first time it is seen, in input order, as it was spelled. Spellings that have one
 * canonical form are one.
 *
 * This file has the options and what they mean together; job.c does the work, set_options.c makes the set. Statistics come
 * after all output.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/canon_options.h"
#include "pipeline/job.h"
#include "ui/options.h"
#include "pipeline/set_options.h"
#include "pipeline/state.h"

typedef struct dedup_options {
    cli_set_options set;
    cli_extract_options extract;
    const char *print, *color;
    uint64_t threads;
    bool seen, null, quiet, stats, json, progress, line_buffered, strict, version;
} dedup_options;

/* One reads, one asks, one writes; of a single processor nothing is gained. */
static uint64_t default_threads(void)
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) == 1 ? 1 : 3;
}

static int read_options(cli_job *job, const dedup_options *options)
{
    uint32_t invalid;

    if (cli_color_set(options->color) != CLI_OK || cli_invalid_parse(options->set.invalid, &invalid) != CLI_OK ||
        cli_extract_init(&job->extract, &options->extract, invalid) != CLI_OK)
        return CLI_ERROR;
    if (cli_print_parse(options->print, &job->printer.what) != CLI_OK)
        return CLI_ERROR;
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
    job->threads = options->threads ? options->threads : default_threads();
    job->progress = options->progress || (!options->quiet && isatty(STDERR_FILENO) && !isatty(STDOUT_FILENO));
    job->syncs_output = !options->set.sync || strcmp(options->set.sync, "never") != 0;
    return CLI_OK;
}

/* What is said at the end, on stderr. */
static int report_run(const cli_job *job, const dedup_options *options)
{
    cli_report report;
    int status = cli_job_report(job, &report);

    if (status != CLI_OK)
        return status;
    if (!options->strict)
        cli_report_warn(&report);
    if (options->json)
        status = cli_report_json(&report);
    else if (options->stats)
        status = cli_report_table(&report);
    int strict = options->strict ? cli_report_strict(&report, options->set.lost) : CLI_OK;
    return status != CLI_OK ? status : strict;
}

static int dedup_run(cli_job *job, cli_sets *sets, const dedup_options *options, cli_words files)
{
    int status = read_options(job, options);

    if (status == CLI_OK)
        status = cli_sets_open(sets, &options->set);
    job->set = sets->set;
    job->also = sets->also;
    job->commits = sets->durable;
    job->live.path = sets->durable ? options->set.state : NULL;
    job->printer.form = vidi_canon_of(sets->set);
    if (status != CLI_OK)
        return status;
    status = cli_job_run(job, files);
    if (status != CLI_PIPE && job->before.size) {
        int reported = report_run(job, options);
        status = status != CLI_OK ? status : reported;
    }
    return job->signal ? CLI_SIGNAL + job->signal : status;
}

static int run(const cli_command *self, cli_words words)
{
    dedup_options options = {.set.lost = -1};
    cli_job job;
    cli_sets sets = {0};
    int status = cli_options_parse(self, &words, &options);

    cli_job_init(&job);
    if (status == CLI_GO_ON)
        status = options.version ? cli_version_print() : dedup_run(&job, &sets, &options, words);
    cli_job_free(&job);
    cli_sets_close(&sets);
    free(options.set.params);
    return status;
}

#define FIELD(name) offsetof(dedup_options, name)

static const cli_option options_table[] = {
    {"state", 's', CLI_TEXT, FIELD(set.state), "STATE", "Remember the URLs in this folder, from run to run",
     "It is made if it is not there. A URL is remembered only when it has been written: whatever ends the program, "
     "what "
     "the state has seen is in the output. 'vidi top' watches the run.",
     0},
    {"wait", 0, CLI_FLAG, FIELD(set.wait), NULL, CLI_WAIT_SUMMARY, CLI_WAIT_DETAILS, 0},
    {"like", 0, CLI_TEXT, FIELD(set.like), "STATE2", "Make it like another state, to merge them later",
     "It has the other's kind, key and canonical form.", 0},
    {"dry-run", 'n', CLI_FLAG, FIELD(set.dry_run), NULL, "Print the same, but remember nothing",
     "Somebody else may be writing to the state meanwhile.", 0},
    {"seen", 'D', CLI_FLAG, FIELD(seen), NULL, "Print the repeats instead", NULL, 0},
    {"count", 'c', CLI_FLAG, FIELD(set.counts), NULL, "Print each URL at the end, with how often it was there",
     "As 'uniq -c' does, in the order in which they first came; with --seen only those that came again. Keeps every "
     "URL in memory.",
     0},
    {"print", 0, CLI_TEXT, FIELD(print), "WHAT", CLI_PRINT_SUMMARY, CLI_PRINT_DETAILS, 0},
    {"null", 'z', CLI_FLAG, FIELD(null), NULL, "Lines end in NUL, not in newlines; -0 is the same", NULL, 0},
    {"null", '0', CLI_FLAG, FIELD(null), NULL, NULL, NULL, 0},
    {"field", 'f', CLI_TEXT, FIELD(extract.field), "FIELD", CLI_FIELD_SUMMARY, CLI_FIELD_DETAILS, 0},
    {"delimiter", 'd', CLI_TEXT, FIELD(extract.delimiter), "C", CLI_DELIMITER_SUMMARY, CLI_DELIMITER_DETAILS, 0},
    {"header", 0, CLI_FLAG, FIELD(extract.header), NULL, CLI_HEADER_SUMMARY, CLI_HEADER_DETAILS, 0},
    {"json-key", 0, CLI_TEXT, FIELD(extract.json_key), "NAME", CLI_JSON_KEY_SUMMARY, CLI_JSON_KEY_DETAILS, 0},
    {"canon", 0, CLI_TEXT, FIELD(set.canon), "P", CLI_CANON_SUMMARY,
     CLI_CANON_DETAILS " Lines with one canonical form are one; with 'none' any lines will do.", 0},
    {"key", 0, CLI_TEXT, FIELD(set.key), "WHAT", "What is to be seen once: url, host or site [url]",
     "'host' and 'site' are --canon key=host and --canon key=site.", 0},
    {"tracking", 0, CLI_TEXT, FIELD(set.tracking), "FILE", CLI_TRACKING_SUMMARY, CLI_TRACKING_DETAILS, 0},
    {"invalid", 0, CLI_TEXT, FIELD(set.invalid), "WHAT", CLI_INVALID_SUMMARY,
     "They are treated as the bytes that they are, left out, or end the run with an error.", 0},
    {"capacity", 0, CLI_COUNT, FIELD(set.capacity), "N", "Number of different URLs to expect",
     "A number like 1000000, 2.5e6 or 100M. Kinds that cannot grow need it. When they get more than that, they go on, "
     "losing more and more, and a warning at the end says so.",
     0},
    {"lost", 0, CLI_AMOUNT, FIELD(set.lost), "L", "Pages that may be lost; 0: none",
     "With --capacity or --memory, the best plan is used by which no more are expected (see 'vidi plan'); --strict "
     "checks it.",
     0},
    {"memory", 0, CLI_BYTES, FIELD(set.memory), "SIZE", "Memory for the set, like 500M, 2GiB or 2GB",
     "G and GiB are 2^30 bytes, GB is 10^9; K, M and T likewise. With --capacity, --lost or --error, the best plan "
     "that fits is used. Alone it is a limit: the run ends with an error where it would be exceeded.",
     0},
    {"error", 0, CLI_PROBABILITY, FIELD(set.error), "E", "Probability that a new URL is taken for seen [1e-6]",
     "Holds when the set is full. With --capacity, and without --kind, the best plan that keeps it is used.", 0},
    {"kind", 0, CLI_TEXT, FIELD(set.kind), "NAME", "Kind of set to remember the URLs in",
     "'vidi kinds' lists them, the default first. Exact kinds such as hashset lose nothing and keep every URL in "
     "memory; the others take a few bytes a URL and lose a page now and then.",
     0},
    {"param", 0, CLI_PAIRS, FIELD(set.params), "NAME=VALUE", "Parameter of the kind; may be given several times",
     "For example '--kind classic --param k=7'.", 0},
    {"epoch", 0, CLI_TEXT, FIELD(set.epoch), "new", "Begin the state's next epoch first, with nothing seen", NULL, 0},
    {"sync", 0, CLI_TEXT, FIELD(set.sync), "WHEN", "State on disk: always, everysec or never [everysec]",
     "After each commit, once a second, or when the kernel likes. Output that goes to a file is synced before each "
     "commit, except with never.",
     0},
    {"strict", 0, CLI_FLAG, FIELD(strict), NULL, "Exit with 3 if --capacity or --lost was exceeded", NULL, 0},
    {"threads", 0, CLI_COUNT, FIELD(threads), "N", "Threads at most; 1 does all in one [3]", NULL, 1024},
    {"line-buffered", 0, CLI_FLAG, FIELD(line_buffered), NULL, "Never wait for more before writing",
     "The output is written when the input has nothing more for the moment in any case, and on terminals as with this "
     "option.",
     0},
    {"stats", 0, CLI_FLAG, FIELD(stats), NULL, "Print statistics on standard error at the end",
     "On SIGUSR1 those so far are printed.", 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print the statistics as one line of JSON", "Implies --stats.", 0},
    {"progress", 0, CLI_FLAG, FIELD(progress), NULL, "Draw a line about the progress on standard error",
     "It is drawn without this option too if standard error is a terminal and standard output is not.", 0},
    {"quiet", 'q', CLI_FLAG, FIELD(quiet), NULL, "No progress and no warnings, only errors", NULL, 0},
    {"color", 0, CLI_TEXT, FIELD(color), "WHEN", "Colours on standard error: auto, always, never [auto]",
     "'auto' is on a terminal, unless NO_COLOR is set.", 0},
    {"version", 0, CLI_FLAG, FIELD(version), NULL, "Print the version", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_dedup = {
    .name = "dedup",
    .summary = "Print each URL the first time it is seen; the default command",
    .usage = "vidi [dedup] [OPTION]... [FILE]...",
    .about = "Prints each line (a URL) the first time it is seen, in order, as it was spelled.",
    .details =
        "Reads the files one after the other, or standard input if there are none; '-' is standard input too. "
        "Files packed with gzip, zstd, xz or bzip2 are unpacked. Lines may have any length and contain any byte. A "
        "carriage return before the end of a line is printed but is not part of the URL; a byte order mark at "
        "the start of a file is skipped. Spellings of one page are one, "
        "in the canonical form that --canon names. A file that has the name of a command is read as ./NAME.\n"
        "Kinds of set that are not exact sometimes take a new URL for one that was seen, and do not print it: "
        "that page is lost. --stats says how many pages that is expected to have cost.\n"
        "The exit status is 0, 2 after an error, or 3 with --strict if the set was not made for so much.",
    .examples = "  vidi urls.txt more.gz > new.txt\n"
                "  vidi -s crawl.vidi found.txt > new.txt            what no run before has seen\n"
                "  tail -f links.log | vidi -s crawl.vidi | fetch\n"
                "  vidi --json-key url < pages.jsonl > once.jsonl\n"
                "  vidi --header -d , -f url pages.csv > once.csv\n"
                "  vidi --capacity 1e9 --lost 1 --stats < urls.txt > new.txt\n"
                "  vidi --kind hashset urls.txt                      no page lost, more memory\n"
                "  vidi --canon crawl --invalid drop < urls.txt      without tracking, sessions\n"
                "  vidi --canon none < lines.txt                     lines of any sort\n"
                "  vidi plan --urls 1e9 --lost 1                     what will it cost?\n",
    .options = options_table,
    .common =
        "state dry-run seen count null field json-key canon invalid capacity lost kind stats json quiet version help",
    .operand = "FILE",
    .run = run,
};
