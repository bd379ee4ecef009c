/*
 * vidi robots: may a crawler fetch these URLs, according to a robots.txt file?
 *
 * The file is read whole, up to the limit of the reader (crawler/robots). URLs are operands, or lines of standard
 * input.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crawler/robots/robots.h"
#include "pipeline/input/lines.h"
#include "ui/options.h"
#include "ui/output.h"

typedef struct asked {
    const char *agent;
    bool lenient, json, quiet;
} asked;

typedef struct job {
    const asked *options;
    robots *rules;
    robots_counts counts;
    cli_out out;
    json_writer json;
    uint64_t denied;
} job;

/* ---- answers ---- */

static int answer(job *j, vidi_str url)
{
    robots_rule why;
    int verdict = robots_check(j->rules, url, &why);

    if (verdict < 0)
        return cli_error("out of memory");
    j->denied += verdict == ROBOTS_DENIED;
    if (j->options->json) {
        json_open(&j->json, NULL, '{');
        cli_json_text(&j->json, "url", url);
        json_add_bool(&j->json, "allowed", verdict == ROBOTS_ALLOWED);
        if (why.line > 0) {
            json_add_count(&j->json, "line", why.line);
            cli_json_text(&j->json, "rule", why.path);
        }
        json_close(&j->json, '}');
    } else if (!j->options->quiet) {
        cli_out_text(&j->out, verdict == ROBOTS_ALLOWED ? "allow\t" : "deny\t");
        cli_out_bytes(&j->out, url.ptr, url.len);
        cli_out_text(&j->out, "\n");
    }
    return CLI_OK;
}

static int answer_block(void *context, const cli_block *block)
{
    job *j = context;
    int status = CLI_OK;

    for (size_t i = 0; i < block->count && status == CLI_OK; i++)
        status = answer(j, block->lines[i]);
    if (status == CLI_OK && (j->out.error != 0 || block->waits))
        status = cli_out_flush(&j->out);
    return status;
}

static int answer_all(job *j, cli_words urls)
{
    const cli_words standard_input = {NULL, 0};
    int status = CLI_OK;

    if (urls.count == 0 && !j->options->json)
        return cli_lines_each(standard_input, answer_block, j);
    for (size_t i = 0; i < urls.count && status == CLI_OK; i++) {
        if (strcmp(urls.list[i], "-") == 0)
            status = cli_lines_each(standard_input, answer_block, j);
        else
            status = answer(j, (vidi_str){urls.list[i], strlen(urls.list[i])});
    }
    return status;
}

/* ---- the file ---- */

static int print_sitemap(void *context, vidi_str url)
{
    cli_json_text(context, NULL, url);
    return 0;
}

/* The JSON object begins with the sitemaps: they are written while the file is being parsed. */
static int parse(job *j, vidi_str file)
{
    robots_options options = {.agent = {j->options->agent, strlen(j->options->agent)},
                              .lenient = j->options->lenient,
                              .context = &j->json,
                              .counts = &j->counts};

    if (j->options->json) {
        options.sitemap = print_sitemap;
        json_open(&j->json, NULL, '{');
        json_add_string(&j->json, "agent", j->options->agent);
        json_open(&j->json, "sitemaps", '[');
    }
    if (robots_parse(&j->rules, file, &options) != VIDI_OK)
        return cli_error("out of memory");
    return CLI_OK;
}

static void print_file(job *j)
{
    static const char *const groups[] = {[ROBOTS_NO_GROUP] = "none", [ROBOTS_ANYBODY] = "*", [ROBOTS_AGENT] = "agent"};
    double delay = robots_delay(j->rules);

    json_close(&j->json, ']');
    json_add_string(&j->json, "group", groups[robots_group_of(j->rules)]);
    json_add_count(&j->json, "rules", robots_rule_count(j->rules));
    json_add_real(&j->json, "crawl_delay", delay < 0 ? (double)NAN : delay);
    json_add_count(&j->json, "lines", j->counts.lines);
    json_add_count(&j->json, "unknown_lines", j->counts.unknown);
    json_add_bool(&j->json, "cut", j->counts.cut);
    json_open(&j->json, "urls", '[');
}

static int answer_for(job *j, vidi_str file, const char *name, cli_words urls)
{
    CLI_TRY(parse(j, file));
    if (j->counts.cut)
        cli_warning("%s: only the first %d bytes were read", name, ROBOTS_LIMIT);
    if (j->options->json)
        print_file(j);
    int status = answer_all(j, urls);
    if (j->options->json) {
        json_close(&j->json, ']');
        json_close(&j->json, '}');
        cli_out_text(&j->out, "\n");
    }
    robots_free(j->rules);
    return status;
}

/* One byte more than the reader takes, so it notices that the file goes on; and cli_input_read wants some room. */
enum { FILE_ROOM = ROBOTS_LIMIT + 64 };

static int load(const char *path, char *bytes, size_t *n)
{
    cli_input in;
    uint64_t size;
    size_t got = 1;

    *n = 0;
    CLI_TRY(cli_input_check(path, &size));
    CLI_TRY(cli_input_open(&in, path));
    cli_input_raw(&in);
    int status = CLI_OK;
    for (; status == CLI_OK && got > 0 && *n <= ROBOTS_LIMIT; *n += got)
        status = cli_input_read(&in, bytes + *n, FILE_ROOM - *n, &got);
    cli_input_close(&in);
    return status;
}

static bool is_token(const char *agent)
{
    return *agent && strspn(agent, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == strlen(agent);
}

/* Reports what cannot be done with these options and words. */
static int check_usage(const asked *options, cli_words words)
{
    if (options->json && options->quiet)
        return cli_error("--json and --quiet exclude each other: --quiet prints nothing");
    if (!is_token(options->agent))
        return cli_error("--agent %s: the name of a crawler in robots.txt has only letters, digits, '-' and '_'",
                         options->agent);
    bool reads_urls = words.count == 1 && !options->json;
    for (size_t i = 1; i < words.count; i++)
        reads_urls = reads_urls || strcmp(words.list[i], "-") == 0;
    if (reads_urls && strcmp(words.list[0], "-") == 0)
        return cli_error("both the file and the URLs would come from standard input; name the file or the URLs");
    return CLI_OK;
}

static int robots_run(const asked *options, cli_words words)
{
    job j = {.options = options, .json = cli_json_to(&j.out)};
    size_t n;

    CLI_TRY(check_usage(options, words));
    char *bytes = malloc(FILE_ROOM);
    if (!bytes)
        return cli_error("out of memory");
    int status = load(words.list[0], bytes, &n);
    if (status == CLI_OK) {
        cli_out_init(&j.out, STDOUT_FILENO);
        status = answer_for(&j, (vidi_str){bytes, n}, words.list[0], (cli_words){words.list + 1, words.count - 1});
        int closed = cli_out_close(&j.out);
        status = status != CLI_OK ? status : closed;
    }
    free(bytes);
    return status == CLI_OK && options->quiet && j.denied > 0 ? CLI_DENIED : status;
}

static int run(void *values, cli_words words)
{
    return robots_run(values, words);
}

#define FIELD(name) offsetof(asked, name)

static const cli_option options_table[] = {
    {"agent", 'a', CLI_TEXT, FIELD(agent), "NAME", "The crawler's name in the file [vidi]",
     "Its product token: letters, '-' and '_'. Upper and lower case are the same.", 0},
    {"lenient", 'l', CLI_FLAG, FIELD(lenient), NULL, "Understand frequent misspellings",
     "For example 'Disalow', 'User agent' or a missing colon, as Google's crawler does. Without this option, such "
     "lines are ignored, as RFC 9309 says.",
     0},
    {"json", 0, CLI_FLAG, FIELD(json), NULL, "Print one JSON object about the file and the URLs",
     "It has agent, sitemaps (an array), group ('agent' if a group names the agent, '*' if the groups for all "
     "crawlers apply, 'none' if there are none), rules (how many apply), crawl_delay (in seconds, or null), lines, "
     "unknown_lines, cut (whether the file was too long) and urls: an array of objects with url, allowed, and the "
     "line and the rule that decided. With --json, URLs are read from standard input only if you give '-' as a URL.",
     0},
    {"quiet", 'q', CLI_FLAG, FIELD(quiet), NULL, "Print nothing; only set the exit status", NULL, 0},
    CLI_OPTIONS_END,
};

const cli_command cli_robots = {
    .name = "robots",
    .summary = "Print which URLs a robots.txt file allows",
    .usage = "vidi robots [OPTION]... FILE [URL]...",
    .about = "Tells for each URL whether a robots.txt file lets a crawler fetch it: prints 'allow' or 'deny', a tab "
             "and the URL.",
    .details = "FILE may be '-' for standard input. If no URL is given, or a URL is '-', URLs are read from standard "
               "input, one per line. The rules are those of RFC 9309; they look only at the path and query of a URL. "
               "Nothing is fetched.\n"
               "The exit status is 0, or 2 after an error. With --quiet it is 1 if at least one URL is denied.",
    .examples = "  vidi robots robots.txt https://example.com/private/\n"
                "  vidi robots --agent Googlebot robots.txt < urls.txt | grep '^allow'\n"
                "  curl -s https://example.com/robots.txt | vidi robots --json -\n"
                "  vidi robots -q robots.txt https://example.com/a && echo may be fetched\n",
    .options = options_table,
    .size = sizeof(asked),
    .defaults = &(const asked){.agent = "vidi"},
    .operand = "FILE",
    .least = 1,
    .run = run,
};
