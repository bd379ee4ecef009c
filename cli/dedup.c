/*
 * vidi [dedup]: prints each line the first time it is seen, in input order, as it was spelled. Spellings that have one
 * canonical form are one.
 *
 * Lines go through the set in batches; the new ones, which lie next to each other in the reader's buffer more often
 * than not, are copied out in runs. When the input has nothing more to give for the moment, what is new is written out
 * before waiting, so the program can sit at the end of a slow pipe. Statistics come after all output.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "forms.h"
#include "lines.h"
#include "options.h"
#include "output.h"

enum { BATCH = 1024 };

typedef struct dedup_options {
    const char *kind;
    char *params;
    uint64_t capacity;
    double error;
    const char *canon, *tracking, *invalid;
    bool stats, json, version;
} dedup_options;

typedef struct dedup {
    vidi_set *set;
    cli_lines in;
    cli_out out;
    uint64_t started; /* nanoseconds */
    uint64_t read, fresh, seen;
    uint64_t line; /* lines of this file that were dealt with */
    bool stopped;  /* at a line that is no URL */
    vidi_str lines[BATCH];
    uint8_t verdicts[BATCH];
} dedup;

static uint64_t nanoseconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Counts the verdicts of a batch and copies out its new lines, a run of neighbours at a time. */
static void take_verdicts(dedup *job, size_t n)
{
    size_t counts[4] = {0};

    for (size_t i = 0; i < n;) {
        size_t first = i;
        while (i < n && job->verdicts[i] == VIDI_NEW)
            i++;
        if (i > first) {
            const char *begin = job->lines[first].ptr;
            cli_out_bytes(&job->out, begin, (size_t)(cli_line_end(job->lines[i - 1]) - begin));
            counts[VIDI_NEW] += i - first;
        }
        for (; i < n && job->verdicts[i] != VIDI_NEW; i++)
            counts[job->verdicts[i] & 3]++;
    }
    job->read += n - counts[VIDI_UNTRIED];
    job->line += n - counts[VIDI_UNTRIED];
    job->fresh += counts[VIDI_NEW];
    job->seen += counts[VIDI_SEEN];
}

/* Of the lines that the set would not take, --invalid fail stops at the first, and it is the first one untried. */
static int batch_error(dedup *job, int error)
{
    if (error != VIDI_EURL)
        return cli_library_error(error);
    job->stopped = true;
    job->read++;
    (void)cli_out_flush(&job->out); /* what is new before it comes first; a failure is told at the end */
    return cli_error("%s:%llu: %s", job->in.name, (unsigned long long)job->line + 1, vidi_message());
}

static int dedup_file(dedup *job, const char *path)
{
    size_t n;
    int status = cli_lines_open(&job->in, path);

    job->line = 0;
    while (status == CLI_OK && (status = cli_lines_next(&job->in, job->lines, BATCH, &n)) == CLI_OK && n > 0) {
        int error = vidi_add_batch(job->set, job->lines, n, job->verdicts);
        take_verdicts(job, n);
        if (error < 0)
            status = batch_error(job, error);
        else if (job->out.error != 0 || cli_lines_waits(&job->in))
            status = cli_out_flush(&job->out);
    }
    cli_lines_close(&job->in);
    return status;
}

/* Does it take more new URLs for seen ones than not? */
static bool is_full(const vidi_stats *stats)
{
    return stats->fp_now >= 0.5;
}

/*
 * How to read expected_lost. It is summed up when a URL is answered NEW, so what was lost since the last NEW is missing
 * from it: next to nothing, unless the set is so full that it hardly ever answers NEW.
 */
static const char *lost_is(const vidi_stats *stats)
{
    if (is_full(stats)) /* and a bound on too little is no bound */
        return stats->fp_meaning == VIDI_FP_EXACT ? "at least" : "about";
    return cli_meaning_name(stats->fp_meaning);
}

/* Lines that are no URLs, whatever became of them. */
static uint64_t invalid_lines(const dedup *job, const vidi_stats *stats)
{
    return stats->answered_invalid + job->stopped;
}

static int print_json(const dedup *job, const vidi_stats *stats, double seconds)
{
    cli_out err;
    cli_json json = {&err, false};

    cli_out_init(&err, STDERR_FILENO);
    cli_json_open(&json, NULL, '{');
    cli_json_count(&json, "read", job->read);
    cli_json_count(&json, "new", job->fresh);
    cli_json_count(&json, "seen", job->seen);
    cli_json_count(&json, "invalid", invalid_lines(job, stats));
    cli_json_count(&json, "bytes_in", job->in.bytes);
    cli_json_count(&json, "memory_bytes", stats->memory_bytes);
    cli_json_real(&json, "seconds", seconds);
    cli_json_real(&json, "urls_per_second", (double)job->read / seconds);
    cli_json_real(&json, "expected_lost", stats->expected_lost);
    cli_json_string(&json, "expected_lost_is", lost_is(stats));
    cli_json_real(&json, "error_now", stats->fp_now);
    cli_json_string(&json, "kind", stats->kind);
    cli_json_string(&json, "params", stats->params);
    cli_json_string(&json, "hash", stats->hash);
    cli_json_string(&json, "canon", stats->canon);
    if (stats->lines_touched)
        cli_json_count(&json, "lines_touched", stats->lines_touched);
    cli_json_count(&json, "epoch", stats->epoch);
    cli_json_count(&json, "count", stats->count);
    cli_json_count(&json, "capacity", stats->capacity);
    cli_json_close(&json, '}');
    cli_out_text(&err, "\n");
    return cli_out_close(&err);
}

static void count_row(cli_table *table, const char *label, uint64_t value)
{
    cli_number number;
    cli_table_cell(table, "%s", label);
    cli_table_cell(table, "%s", cli_human_count(&number, value));
}

static void text_row(cli_table *table, const char *label, const char *text)
{
    cli_table_cell(table, "%s", label);
    cli_table_cell(table, "%s", text);
}

static int print_table(const dedup *job, const vidi_stats *stats, double seconds)
{
    static const char *const lost_notes[] = {"", "; fewer if the URLs have little in common",
                                             "; some URLs are lost for certain"};
    cli_out err;
    cli_table table = {.layout = "ll"};
    cli_number number;

    count_row(&table, "lines read", job->read);
    count_row(&table, "new", job->fresh);
    count_row(&table, "seen", job->seen);
    count_row(&table, "invalid", invalid_lines(job, stats));
    count_row(&table, "bytes in", job->in.bytes);
    text_row(&table, "memory", cli_human_bytes(&number, stats->memory_bytes));
    cli_table_cell(&table, "seconds");
    cli_table_cell(&table, "%.3f", seconds);
    text_row(&table, "URLs/s", cli_human_real(&number, (double)job->read / seconds));
    cli_table_cell(&table, "expected pages lost");
    cli_table_cell(&table, "%s (%s%s)", cli_human_real(&number, stats->expected_lost), lost_is(stats),
                   is_full(stats) ? "; the set is full" : lost_notes[stats->fp_meaning % 3]);
    text_row(&table, "error rate now", cli_human_real(&number, stats->fp_now));
    cli_table_cell(&table, "kind");
    cli_table_cell(&table, "%s%s%s", stats->kind, *stats->params ? " " : "", stats->params);
    text_row(&table, "hash", stats->hash);
    text_row(&table, "canonical form", stats->canon);
    if (stats->lines_touched)
        count_row(&table, "lines a question", stats->lines_touched);
    count_row(&table, "epoch", stats->epoch);
    cli_out_init(&err, STDERR_FILENO);
    int status = cli_table_print(&table, &err);
    int closed = cli_out_close(&err);
    return status == CLI_OK ? closed : status;
}

static void warn_if_overfull(const vidi_stats *stats)
{
    cli_number count, capacity, lost;
    bool over = stats->capacity > 0 && stats->count > stats->capacity;

    if ((stats->can & VIDI_CAN_GROW) || !(over || is_full(stats)))
        return;
    cli_human_real(&lost, stats->expected_lost);
    const char *meaning = lost_is(stats);
    if (over)
        cli_warning(
            "%s URLs in a set made for %s; pages expected to be lost: %s %s; give a larger --capacity or a --kind "
            "that grows",
            cli_human_count(&count, stats->count), cli_human_count(&capacity, stats->capacity), meaning, lost.text);
    else
        cli_warning("the set is full and takes most new URLs for seen ones; pages expected to be lost: %s %s; give a "
                    "larger --capacity or a --kind that grows",
                    meaning, lost.text);
}

/* What is said at the end, on stderr. */
static int report(const dedup *job, const dedup_options *options)
{
    vidi_stats stats = {.size = sizeof stats};
    double seconds = (double)(nanoseconds() - job->started) / 1e9;

    int error = vidi_stat(job->set, &stats);
    if (error < 0)
        return cli_library_error(error);
    warn_if_overfull(&stats);
    if (options->json)
        return print_json(job, &stats, seconds);
    return options->stats ? print_table(job, &stats, seconds) : CLI_OK;
}

/* Every file is looked at before the first is read: a name that is wrong must not cost half a result. */
static int check_files(cli_words files)
{
    int status = CLI_OK;

    for (size_t i = 0; i < files.count; i++)
        if (cli_lines_check(files.list[i]) != CLI_OK)
            status = CLI_ERROR;
    return status;
}

static int dedup_files(dedup *job, cli_words files)
{
    int status = cli_lines_init(&job->in);

    cli_out_init(&job->out, STDOUT_FILENO);
    if (files.count == 0 && status == CLI_OK)
        status = dedup_file(job, "-");
    for (size_t i = 0; i < files.count && status == CLI_OK; i++)
        status = dedup_file(job, files.list[i]);
    int closed = cli_out_close(&job->out);
    cli_lines_free(&job->in);
    return closed != CLI_OK ? closed : status;
}

/* Every option is looked at before the first file. */
static int make_set(dedup *job, const dedup_options *options, const char *tracking)
{
    vidi_options set = VIDI_OPTIONS_INIT;

    set.kind = options->kind;
    set.params = options->params;
    set.capacity = options->capacity;
    set.error = options->error;
    set.canon = options->canon;
    set.tracking = tracking;
    if (cli_invalid_parse(options->invalid, &set.invalid) != CLI_OK)
        return CLI_ERROR;
    int error = vidi_create(&job->set, &set);
    return error < 0 ? cli_library_error(error) : CLI_OK;
}

static int dedup_run(const dedup_options *options, const char *tracking, cli_words files)
{
    dedup job = {.started = nanoseconds()};

    if (check_files(files) != CLI_OK || make_set(&job, options, tracking) != CLI_OK)
        return CLI_ERROR;
    int status = dedup_files(&job, files);
    if (status != CLI_PIPE) {
        int reported = report(&job, options);
        status = status != CLI_OK ? status : reported;
    }
    vidi_close(job.set);
    return status;
}

static int dedup_options_run(const dedup_options *options, cli_words files)
{
    char *tracking;
    int status = cli_tracking_read(options->tracking, &tracking);

    if (status == CLI_OK)
        status = dedup_run(options, tracking, files);
    free(tracking);
    return status;
}

static int run(const cli_command *self, cli_words words)
{
    dedup_options options = {0};
    int status = cli_options_parse(self, &words, &options);

    if (status == CLI_GO_ON)
        status = options.version ? cli_version_print() : dedup_options_run(&options, words);
    free(options.params);
    return status;
}

#define FIELD(name) offsetof(dedup_options, name)

static const cli_option options_table[] = {
    {"kind", 0, CLI_TEXT, FIELD(kind), "NAME", "Kind of set to remember the URLs in",
     "'vidi kinds' lists them, the default first. Exact kinds such as hashset lose nothing and keep every URL in "
     "memory; "
     "the others take a few bytes a URL and lose a page now and then.",
     0},
    {"param", 0, CLI_PAIRS, FIELD(params), "NAME=VALUE", "Parameter of the kind; may be given several times",
     "For example '--kind classic --param k=7'.", 0},
    {"capacity", 0, CLI_COUNT, FIELD(capacity), "N", "Number of different URLs to expect",
     "A plain number or one like 2.5e6. Kinds that cannot grow need it. When they get more than that, they go on, "
     "losing "
     "more and more, and a warning at the end says so.",
     0},
    {"error", 0, CLI_PROBABILITY, FIELD(error), "E", "Probability that a new URL is taken for seen [1e-6]",
     "Holds when the set is full. 'vidi plan' turns a number of pages that may be lost into an error rate.", 0},
    {"canon", 0, CLI_TEXT, FIELD(canon), "P", CLI_CANON_SUMMARY,
     CLI_CANON_DETAILS " Lines with one canonical form are one; with 'none' any lines will do.", 0},
    {"tracking", 0, CLI_TEXT, FIELD(tracking), "FILE", CLI_TRACKING_SUMMARY, CLI_TRACKING_DETAILS, 0},
    {"invalid", 0, CLI_TEXT, FIELD(invalid), "WHAT", CLI_INVALID_SUMMARY,
     "They are treated as the bytes that they are, left out, or end the run with an error.", 0},
    {"stats", 0, CLI_FLAG, FIELD(stats), NULL, "Print statistics on standard error at the end", NULL, 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print the statistics as one line of JSON", "Implies --stats.", 0},
    {"version", 0, CLI_FLAG, FIELD(version), NULL, "Print the version", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_dedup = {
    .name = "dedup",
    .summary = "Print each URL the first time it is seen; the default command",
    .usage = "vidi [dedup] [OPTION]... [FILE]...",
    .about = "Prints each line (a URL) the first time it is seen, in order, as it was spelled.",
    .details = "Reads the files one after the other, or standard input if there are none; '-' is standard input too. "
               "Lines may "
               "have any length and contain any byte. A carriage return before the end of a line is printed but is not "
               "part of "
               "the URL. Spellings of one page are one, in the canonical form that --canon names. A file that has the "
               "name of a command is read as ./NAME.\n"
               "Kinds of set that are not exact sometimes take a new URL for one that was seen, and do not print it: "
               "that page "
               "is lost. --stats says how many pages that is expected to have cost.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi urls.txt more.txt > new.txt\n"
                "  zcat crawl.gz | vidi --stats > new.txt\n"
                "  vidi --kind hashset urls.txt                     no page lost, more memory\n"
                "  vidi --kind classic --capacity 1e8 --error 1e-4 < urls.txt\n"
                "  vidi --canon crawl --invalid drop < urls.txt     without tracking, sessions\n"
                "  vidi --canon none < lines.txt                    lines of any sort\n"
                "  vidi plan --urls 1e9 --lost 1                    what will it cost?\n",
    .options = options_table,
    .operand = "FILE",
    .run = run,
};
