/*
 * vidi links: prints the links of HTML pages as absolute URLs, one a line.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crawler/html/html.h"
#include "pipeline/input/input.h"
#include "pipeline/options/canon_options.h"
#include "ui/options.h"
#include "ui/output.h"
#include "vidi/url.h"

/* The largest page. */
#define PAGE_MAX ((size_t)1 << 30)

/* The most bytes of a link's text. */
enum { TEXT_MAX = 200 };

typedef struct links_options {
    const char *base, *encoding;
    bool resources, skip_nofollow, json, about;
} links_options;

typedef struct links {
    const links_options *options;
    const char *file; /* being read */
    html_page *page;
    html_page_info info;
    cli_out out;
    uint64_t found, unresolved;
} links;

static const uint32_t not_to_be_followed = HTML_NOFOLLOW | HTML_UGC | HTML_SPONSORED;

static bool is_nofollow(const links *job, const html_link *link)
{
    return (job->info.robots & HTML_ROBOTS_NOFOLLOW) || (link->flags & not_to_be_followed);
}

static void print_json(links *job, const html_link *link)
{
    json_writer json = cli_json_begin(&job->out);
    char text[TEXT_MAX];

    if (link->url.ptr)
        cli_json_text(&json, "url", link->url);
    cli_json_text(&json, "value", link->value);
    json_add_string(&json, "file", job->file);
    json_add_count(&json, "position", link->position);
    json_add_string(&json, "element", link->element);
    json_add_string(&json, "attribute", link->attribute);
    json_add_string(&json, "kind", link->group == HTML_RESOURCES ? "resource" : "link");
    cli_json_text(&json, "rel", link->rel);
    cli_json_text(&json, "text", (vidi_str){text, html_link_text(job->page, link, text, sizeof text)});
    json_add_bool(&json, "nofollow", is_nofollow(job, link));
    cli_json_end(&json);
}

static int print_link(void *context, const html_link *link)
{
    links *job = context;

    if (job->options->skip_nofollow && is_nofollow(job, link))
        return 0;
    job->found++;
    job->unresolved += !link->url.ptr;
    if (job->options->json) {
        print_json(job, link);
    } else if (link->url.ptr) {
        cli_out_bytes(&job->out, link->url.ptr, link->url.len);
        cli_out_text(&job->out, "\n");
    }
    return job->out.error ? 1 : 0;
}

static int count_link(void *context, const html_link *link)
{
    (void)link;
    ++*(uint64_t *)context;
    return 0;
}

static int print_about(links *job)
{
    json_writer json = cli_json_to(&job->out);
    uint64_t found = 0, resources = 0;
    int result = html_page_links(job->page, HTML_LINKS, count_link, &found);

    if (result == VIDI_OK)
        result = html_page_links(job->page, HTML_RESOURCES, count_link, &resources);
    json_open(&json, NULL, '{');
    json_add_string(&json, "file", job->file);
    json_add_string(&json, "encoding", job->info.encoding);
    json_add_string(&json, "encoding_from", job->info.source);
    if (job->info.base.ptr)
        cli_json_text(&json, "base", job->info.base);
    json_add_count(&json, "links", found);
    json_add_count(&json, "resources", resources);
    json_add_bool(&json, "noindex", job->info.robots & HTML_ROBOTS_NOINDEX);
    json_add_bool(&json, "nofollow", job->info.robots & HTML_ROBOTS_NOFOLLOW);
    json_add_bool(&json, "noarchive", job->info.robots & HTML_ROBOTS_NOARCHIVE);
    cli_json_end(&json);
    return result;
}

static void warn_of_unresolved(const links *job)
{
    unsigned long long count = job->unresolved;

    if (count && job->info.base.ptr)
        cli_warning("%s: links that are not URLs: %llu", job->file, count);
    else if (count)
        cli_warning("%s: links that are relative or not URLs: %llu; --base URL says where the page is from", job->file,
                    count);
}

static int print_page(links *job, vidi_str bytes)
{
    const links_options *options = job->options;
    html_options how = {.url = {NULL, 0}};
    uint32_t groups = HTML_LINKS | (options->resources ? HTML_RESOURCES : 0);

    if (options->base)
        how.url = (vidi_str){options->base, strlen(options->base)};
    if (options->encoding)
        how.encoding = (vidi_str){options->encoding, strlen(options->encoding)};
    int result = html_page_open(&job->page, bytes, &how);
    if (result == VIDI_OK) {
        job->info = html_page_about(job->page);
        if (!job->info.readable)
            cli_warning("%s: this build, made without ICU, cannot read %s; only ASCII is right", job->file,
                        job->info.encoding);
        job->unresolved = 0;
        result = options->about ? print_about(job) : html_page_links(job->page, groups, print_link, job);
        warn_of_unresolved(job);
    }
    html_page_close(job->page);
    if (result < 0)
        return cli_error("cannot read %s: %s", job->file, vidi_strerror(result));
    return job->out.error ? cli_out_flush(&job->out) : CLI_OK;
}

static int print_file(links *job, const char *path)
{
    char *bytes;
    size_t len;

    job->file = strcmp(path, "-") == 0 ? "standard input" : path;
    CLI_TRY(cli_input_read_whole(path, PAGE_MAX, false, &bytes, &len));
    int status = print_page(job, (vidi_str){bytes, len});
    free(bytes);
    return status;
}

/* Reports options that make no sense at once, not at the first page. */
static int check_options(const links_options *options)
{
    if (options->about && (options->json || options->resources || options->skip_nofollow))
        return cli_error("--about prints no links: it excludes --json, --resources and --skip-nofollow");
    if (options->encoding && !html_encoding_name((vidi_str){options->encoding, strlen(options->encoding)}))
        return cli_error("--encoding: '%s' is not a label of the Encoding Standard", options->encoding);
    return cli_base_check(options->base);
}

static int print_files(const links_options *options, cli_words files)
{
    links job = {.options = options};
    uint64_t size;
    int status = check_options(options);

    if (status == CLI_OK)
        status = cli_input_check_all(&files, &size);
    if (status != CLI_OK)
        return status;
    cli_out_init(&job.out, STDOUT_FILENO);
    for (size_t i = 0; i < files.count && status == CLI_OK; i++)
        status = print_file(&job, files.list[i]);
    return cli_out_end(&job.out, status);
}

static int run(void *values, cli_words words)
{
    return print_files(values, words);
}

#define FIELD(name) offsetof(links_options, name)

static const cli_option options_table[] = {
    {"base", 0, CLI_TEXT, FIELD(base), "URL", "The URL of the page, which relative links are resolved against",
     "An element <base> in the page comes first, unless it has more than 8 KiB.", 0},
    {"encoding", 0, CLI_TEXT, FIELD(encoding), "LABEL", "The page's encoding, as the server's header names it",
     "Only a byte order mark comes first. Without this option, a <meta> in the first 1,024 bytes decides, and without "
     "one the page is read as windows-1252. Labels are those of the Encoding Standard.",
     0},
    {"resources", 0, CLI_FLAG, FIELD(resources), NULL, "Print images, scripts, media and other parts of the page, too",
     "They include what <style> elements and style attributes load with url() and @import.", 0},
    {"skip-nofollow", 0, CLI_FLAG, FIELD(skip_nofollow), NULL, "Leave out links that the page asks not to follow",
     "Those with rel=nofollow, ugc or sponsored, and all links of a page with <meta name=robots content=nofollow>.", 0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print a JSON object for each link",
     "It has url (unless the link is not a URL), value (the attribute as written), file, position (of the value, in "
     "bytes of "
     "the page as UTF-8), element, attribute, kind (link or resource), rel, text (what a reader sees of an a "
     "element) and nofollow.",
     0},
    {"about", 0, CLI_FLAG, FIELD(about), NULL, "Print a JSON object about each page instead of its links",
     "It has file, encoding, encoding_from (bom, option, meta or default), base, links, resources, and what the page "
     "asks of robots: noindex, nofollow and noarchive.",
     0},
    CLI_OPTIONS_END,
};

const cli_command cli_links = {
    .name = "links",
    .summary = "Print the links of HTML pages",
    .usage = "vidi links [OPTION]... [FILE]...",
    .about = "Reads HTML pages as browsers do and prints their links as absolute URLs, one per line.",
    .details = "Links are those of a, area, link, frame and iframe, and where <meta http-equiv=refresh> leads, in "
               "the order of the page. Contents of template are left out; contents of noscript count. Links are "
               "printed with their fragments and whatever their scheme is. The query of a link is percent-encoded "
               "in the page's encoding, as the URL Standard says.\n"
               "Reads the files one after the other, or standard input if no file is given; '-' means standard "
               "input too. Packed files are unpacked.\n"
               "The exit status is 0, or 2 after an error.",
    .examples = "  vidi links --base https://example.org/a.html a.html | vidi -s crawl.vidi > new.txt\n"
                "  vidi links --base https://example.org/ --resources --json index.html\n"
                "  vidi links --base https://example.org/ --skip-nofollow < index.html | grep '^http'\n"
                "  vidi links --about *.html\n",
    .options = options_table,
    .size = sizeof(links_options),
    .operand = "FILE",
    .run = run,
};
