/*
 * vidi sitemap: prints the URLs that sitemaps list, and what is wrong with the sitemaps.
 *
 * Files are read piece by piece, as they are: the reader (crawler/sitemap) unpacks gzip itself, within its limits.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crawler/sitemap/sitemap.h"
#include "pipeline/input/input.h"
#include "pipeline/options/canon_options.h"
#include "ui/options.h"
#include "ui/output.h"
#include "vidi/url.h"

enum { PIECE = 1 << 16 };

typedef struct asked {
    const char *base;
    uint64_t max_urls, max_bytes;
    bool json, quiet;
} asked;

typedef struct job {
    const asked *options;
    const char *file; /* its name, as it was given */
    cli_out out;
    bool incomplete; /* some file was */
} job;

/* ---- entries ---- */

static void print_given(json_writer *json, const char *key, vidi_str text)
{
    if (text.len > 0)
        cli_json_text(json, key, text);
}

static void print_json(job *j, const sitemap_entry *entry)
{
    json_writer json = cli_json_begin(&j->out);

    cli_json_text(&json, "url", entry->url);
    json_add_string(&json, "kind", entry->is_sitemap ? "sitemap" : "page");
    print_given(&json, "lastmod", entry->lastmod);
    print_given(&json, "changefreq", entry->changefreq);
    print_given(&json, "priority", entry->priority);
    json_add_string(&json, "file", j->file);
    json_add_count(&json, "line", entry->line);
    json_close(&json, '}');
}

static int print_entry(void *context, const sitemap_entry *entry)
{
    job *j = context;

    if (j->options->json) {
        print_json(j, entry);
    } else {
        if (entry->is_sitemap)
            cli_out_text(&j->out, "sitemap\t");
        cli_out_bytes(&j->out, entry->url.ptr, entry->url.len);
    }
    cli_out_text(&j->out, "\n");
    return j->out.error != 0 ? SITEMAP_ENOUGH : 0;
}

/* ---- files ---- */

static void warn(const char *name, const sitemap_report *report)
{
    for (int i = 0; i < SITEMAP_PROBLEMS; i++) {
        unsigned long long count = report->problems[i].count, line = report->problems[i].line;
        const char *text = sitemap_problem_text((sitemap_problem)i);
        if (count > 1)
            cli_warning("%s: line %llu: %s (%llu times)", name, line, text, count);
        else if (count == 1)
            cli_warning("%s: line %llu: %s", name, line, text);
    }
}

/* What made it impossible to read anything of a file. */
static const char *reason(const sitemap_report *report)
{
    for (int i = 0; i <= SITEMAP_LONG_URL; i++)
        if (report->problems[i].count > 0)
            return sitemap_problem_text((sitemap_problem)i);
    return "it has no <urlset> or <sitemapindex>, is no feed, and has no line with a URL";
}

static int report_file(job *j, const char *name, const sitemap_report *report)
{
    if (report->format == SITEMAP_UNKNOWN)
        return cli_error("%s cannot be read as a sitemap: %s", name, reason(report));
    warn(name, report);
    j->incomplete = j->incomplete || sitemap_is_incomplete(report);
    return CLI_OK;
}

static int read_input(cli_input *in, sitemap *reader)
{
    static char bytes[PIECE];
    size_t got = 1;
    int status = CLI_OK;

    while (got > 0 && status == CLI_OK) {
        status = cli_input_read(in, bytes, sizeof bytes, &got);
        if (status == CLI_OK && sitemap_feed(reader, bytes, got) != SITEMAP_GO_ON)
            break;
    }
    return status;
}

static int read_file(job *j, const char *path)
{
    const asked *options = j->options;
    sitemap_options wanted = {.visit = print_entry,
                              .context = j,
                              .base = {options->base, options->base ? strlen(options->base) : 0},
                              .max_bytes = options->max_bytes,
                              .max_urls = options->max_urls};
    sitemap_report report;
    sitemap *reader;
    cli_input in;

    j->file = path;
    CLI_TRY(cli_input_open(&in, path));
    cli_input_raw(&in);
    int status = sitemap_open(&reader, &wanted) == VIDI_OK ? CLI_OK : cli_error("out of memory");
    if (status == CLI_OK) {
        status = read_input(&in, reader);
        if (sitemap_close(reader, &report) != VIDI_OK)
            status = cli_error("out of memory");
        else if (j->out.error == 0)
            status = status == CLI_OK ? report_file(j, in.name, &report) : status;
    }
    cli_input_close(&in);
    return status;
}

/* A file that is not a sitemap does not keep the others from being read. */
static int read_files(job *j, cli_words files)
{
    int status = CLI_OK;

    for (size_t i = 0; i < files.count && j->out.error == 0; i++)
        if (read_file(j, files.list[i]) != CLI_OK)
            status = CLI_ERROR;
    return status;
}

static int sitemap_run(const asked *options, cli_words files)
{
    job j = {.options = options};
    uint64_t size;

    CLI_TRY(cli_base_check(options->base));
    CLI_TRY(cli_input_check_all(&files, &size));
    if (options->quiet)
        cli_warnings_off();
    cli_out_init(&j.out, STDOUT_FILENO);
    int status = read_files(&j, files), closed = cli_out_close(&j.out);
    status = closed != CLI_OK ? closed : status;
    return status == CLI_OK && j.incomplete ? CLI_INCOMPLETE : status;
}

static int run(void *values, cli_words words)
{
    return sitemap_run(values, words);
}

#define FIELD(name) offsetof(asked, name)

static const cli_option options_table[] = {
    {"base", 0, CLI_TEXT, FIELD(base), "URL", "Resolve relative URLs against the sitemap's own",
     "The protocol allows only absolute URLs. Without --base, others are left out with a warning.", 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print a JSON object for each URL",
     "It has url, kind (page or sitemap), file and line, and lastmod, changefreq and priority if the sitemap has "
     "them, exactly as written.",
     0},
    {"max-urls", 0, CLI_COUNT, FIELD(max_urls), "N", "Read at most N URLs of a file [50,000]", NULL, 0},
    {"max-bytes", 0, CLI_BYTES, FIELD(max_bytes), "SIZE", "Read at most SIZE bytes of a file, unpacked [50MiB]", NULL,
     0},
    {"quiet", 'q', CLI_FLAG, FIELD(quiet), NULL, "Print no warnings", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_sitemap = {
    .name = "sitemap",
    .summary = "Print the URLs that sitemaps list",
    .usage = "vidi sitemap [OPTION]... [FILE]...",
    .about = "Prints the URLs of sitemaps, one per line. A line that begins with 'sitemap' and a tab names another "
             "sitemap.",
    .details = "Reads the files one after the other, or standard input if no file is given; '-' means standard input "
               "too. A sitemap is XML (a urlset or a sitemapindex), text with a URL per line, or an RSS or Atom feed. "
               "It may be packed with gzip. Everything readable in a broken sitemap is read, and warnings say what "
               "is wrong. Nothing is fetched.\n"
               "The exit status is 0; 1 if URLs may be missing because a file is cut off, damaged or beyond a limit; "
               "or 2 after an error, such as a file that is not a sitemap.",
    .examples = "  vidi sitemap sitemap.xml | vidi > new.txt\n"
                "  vidi sitemap --json sitemap.xml.gz\n"
                "  curl -s https://example.com/sitemap.xml | vidi sitemap > urls.txt\n",
    .options = options_table,
    .size = sizeof(asked),
    .operand = "FILE",
    .run = run,
};
